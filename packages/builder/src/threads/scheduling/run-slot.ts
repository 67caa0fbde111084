import type { JobContext, JobHandler, JobOutcome } from '../../engine/job-engine.js';
import { keys } from '../../persistence/keys.js';
import { beginJob, settleLostJob } from './begin-job.js';
import { orderJobs } from './choose-job.js';
import type { CodingDesk } from './coding-desk.js';
import { listJobIds, readCodingJob, readCodingJobs } from './coding-job-files.js';
import { type CodingJobRecord, isOpen } from './coding-job-record.js';
import { readTurns } from './coding-job-record.wire.js';
import type { CodingRunner } from './coding-runner.js';
import { finishEnded } from './end-job.js';

/** Works off a runner's jobs one by one, until none is left that nobody else has. */
export function createSlotHandler(desk: CodingDesk, runner: CodingRunner): JobHandler {
  return async (_slot, context) => await new SlotRun(desk, runner, context).run();
}

/** How an open job looks from here: `left` by a host that is gone, or over with something owed. */
type Seen = 'waiting' | 'running' | 'left' | 'unseen';

class SlotRun {
  readonly #desk: CodingDesk;
  readonly #runner: CodingRunner;
  readonly #context: JobContext;
  /** Jobs that another one has, or that could not be looked at: not tried twice in one run. */
  readonly #passed = new Set<string>();
  #failure: string | undefined;

  constructor(desk: CodingDesk, runner: CodingRunner, context: JobContext) {
    this.#desk = desk;
    this.#runner = runner;
    this.#context = context;
  }

  async run(): Promise<JobOutcome> {
    const { signal } = this.#context;
    for (;;) {
      if (signal.aborted) return { state: 'later', reason: 'The engine was stopped.' };
      const jobId = await this.#chooseJob();
      if (jobId === undefined) break;
      await this.#take(jobId);
    }
    if (this.#failure === undefined) return { state: 'done' };
    return { state: 'retry', reason: this.#failure };
  }

  /** What a host left in the middle comes first, since it is over already and only has to be told. */
  async #chooseJob(): Promise<string | undefined> {
    const { store } = this.#desk;
    const { runnerId } = this.#runner;
    const open = await listJobIds(this.#desk, keys.openCodingJobs(runnerId));
    const records = await readCodingJobs(this.#desk, open);
    const seen = await Promise.all(records.map((record) => this.#look(record)));
    const those = (...states: readonly Seen[]) =>
      records.filter((_record, at) => states.some((state) => state === seen[at]));
    const found = await store.read(keys.codingTurns(runnerId));
    const ordered = [
      ...those('left').map(({ jobId }) => jobId),
      ...orderJobs({
        waiting: those('waiting'),
        running: those('running', 'unseen'),
        turns: found.state === 'present' ? readTurns(found.value) : {},
      }),
      // Whether its host lives takes a while to be judged, so nobody waits behind that.
      ...those('unseen').map(({ jobId }) => jobId),
    ];
    return ordered.find((jobId) => !this.#passed.has(jobId));
  }

  async #look({ jobId, state }: CodingJobRecord): Promise<Seen> {
    if (state === 'PENDING') return 'waiting';
    const lease = await this.#desk.store.observe(keys.codingJobLease(jobId));
    if (lease.state === 'unknown') return 'unseen';
    return lease.state === 'free' ? 'left' : 'running';
  }

  async #take(jobId: string): Promise<void> {
    const { store, logger } = this.#desk;
    try {
      const { lease } = await store.acquire(keys.codingJobLease(jobId), {
        signal: this.#context.signal,
      });
      // Whoever has it ends it, or leaves it to be found by the slot it was run in.
      if (!lease) return void this.#passed.add(jobId);
      await using held = lease;
      await this.#act(jobId, held);
    } catch (error) {
      if (this.#context.signal.aborted) return;
      this.#passed.add(jobId);
      this.#failure = `The job ${jobId}: ${error instanceof Error ? error.message : String(error)}`;
      logger?.warn({ job_id: jobId, err: error }, 'coding job not run');
    }
  }

  async #act(jobId: string, lease: Parameters<typeof beginJob>[1]['lease']): Promise<void> {
    const record = await readCodingJob(this.#desk, jobId);
    if (!record) return void this.#passed.add(jobId);
    const held = { runner: this.#runner, record, lease, context: this.#context };
    if (record.state === 'PENDING') return await beginJob(this.#desk, held);
    if (isOpen(record)) return await settleLostJob(this.#desk, held);
    await finishEnded(this.#desk, record);
  }
}

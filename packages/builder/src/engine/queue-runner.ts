import { mapAtMost } from './at-most.js';
import { type BegunJob, claimJob } from './claim-job.js';
import type { EngineReport } from './job-engine.js';
import type { JobEntry, KnownJob } from './job-entry.js';
import { compareJobs, type JobRecord } from './job-record.js';
import { OpenJobs } from './open-jobs.js';
import type { QueueContext } from './queue-context.js';
import { type RunningJob, runJob } from './run-job.js';

type LeftJob = EngineReport['left'][number];

/** What stands open in a queue before anything is begun. */
export interface QueueSurvey {
  readonly queued: readonly KnownJob[];
  readonly left: readonly LeftJob[];
}

/** How many leases are looked at at once when the engine begins. */
const LOOK_AT_ONCE = 16;

/** Runs the jobs of one queue in this process. */
export class QueueRunner {
  readonly #context: QueueContext;
  readonly #open: OpenJobs;
  readonly #running = new Map<string, RunningJob>();
  /** What goes on beside the loop; waited for at the end. */
  readonly #beside = new Set<Promise<void>>();
  #loop: Promise<void> | undefined;
  #nap: AbortController | undefined;
  #isKicked = false;
  #lookAt = 0;

  constructor(context: QueueContext) {
    this.#context = context;
    this.#open = new OpenJobs(context);
    context.stopping.addEventListener('abort', () => this.#kick(), { once: true });
  }

  /** Looks through everything open, and begins nothing. */
  async survey(): Promise<QueueSurvey> {
    const { keys } = this.#context;
    const { unusable } = await this.#open.look();
    const damaged = unusable.map(({ id, detail }): LeftJob => {
      return { queue: keys.queue, id, reason: 'damaged', detail };
    });
    // One that is to be taken away is no job any more.
    const entries = this.#open.all.filter(({ known, isCancelled }) => known && !isCancelled);
    const judged = await mapAtMost(LOOK_AT_ONCE, entries, (entry) => this.#judge(entry));
    const queued = judged.flatMap((one) => (isLeft(one) ? [] : [one]));
    return { queued, left: [...judged.filter(isLeft), ...damaged] };
  }

  /** Begins what is due, and goes on until the engine stops. */
  start(): void {
    this.#loop = this.#run();
  }

  /** Whether a job runs here, and which. */
  running(id: string): RunningJob | undefined {
    return this.#running.get(id);
  }

  /** What a listing read of a job: the survey that follows need not read it again. */
  readonly learnListed = (record: JobRecord, { isFree }: { readonly isFree: boolean }): void => {
    const entry = this.#open.learn(record);
    if (isFree) entry.noteFree(this.#context.clock);
  };

  /** A job was enqueued in this process. */
  noteEnqueued(record: JobRecord): void {
    this.#open.learn(record);
    this.#kick();
  }

  /** A job was woken, or is to be taken away, by this process. */
  noteChanged(id: string, mark: 'isWoken' | 'isCancelled'): void {
    const entry = this.#open.get(id);
    if (entry) {
      entry[mark] = true;
      entry.lookNow();
    }
    this.#lookAt = 0;
    this.#kick();
  }

  /** Resolves when nothing of the queue runs here any more. */
  async stop(): Promise<void> {
    this.#kick();
    await this.#loop;
    await Promise.all([...this.#running.values()].map(({ ended }) => ended));
    while (this.#beside.size > 0) await Promise.all(this.#beside);
  }

  async #judge(entry: JobEntry): Promise<KnownJob | LeftJob> {
    const { store, keys, clock } = this.#context;
    const { id, known } = entry;
    if (!known) throw new Error('unreachable: an unread job is not judged');
    const leave = (reason: LeftJob['reason'], detail: string): LeftJob => {
      return { queue: keys.queue, id, reason, detail };
    };
    const seen = entry.wasJustFree(clock)
      ? ({ state: 'free' } as const)
      : await store.observe(keys.lease(id));
    if (seen.state === 'held') return leave('live_owner', describeOwner(seen.owner));
    if (seen.state === 'unknown') return leave('live_owner', 'Its owner cannot be seen from here.');
    if (entry.isDue(clock)) return known;
    if (known.state === 'parked') return leave('parked', known.reason ?? '');
    return leave('not_before', `${known.notBefore}: ${known.reason ?? ''}`);
  }

  async #run(): Promise<void> {
    const { stopping, logger, keys } = this.#context;
    while (!stopping.aborted) {
      try {
        await this.#round();
      } catch (error) {
        logger?.warn({ queue: keys.queue, err: error }, 'queue not looked through');
      }
      await this.#sleep();
    }
  }

  async #round(): Promise<void> {
    const { clock, pollMs } = this.#context;
    if (clock.monotonicMs() >= this.#lookAt) {
      this.#lookAt = clock.monotonicMs() + pollMs;
      await this.#look();
    }
    await this.#beginReady();
  }

  async #look(): Promise<void> {
    const { cancels, unusable } = await this.#open.look();
    for (const { id, detail } of unusable) this.#warn(id, detail);
    for (const job of this.#running.values()) {
      job.checkLease();
      if (cancels.has(job.record.order)) this.#aside(async () => void (await job.cancel()));
    }
  }

  async #beginReady(): Promise<void> {
    const { clock, stopping } = this.#context;
    const now = clock.monotonicMs();
    const ready = this.#idle().filter((entry) => entry.readyAt(clock) <= now);
    for (const entry of ready.sort(compareEntries)) {
      if (stopping.aborted || !this.#hasPlace()) return;
      await this.#begin(entry);
    }
  }

  #idle(): JobEntry[] {
    return this.#open.all.filter(({ id }) => !this.#running.has(id));
  }

  #hasPlace(): boolean {
    return this.#running.size < this.#context.concurrency;
  }

  async #begin(entry: JobEntry): Promise<void> {
    const { clock, keys, logger, stopping } = this.#context;
    const { id } = entry;
    try {
      const claim = await claimJob(this.#context, entry);
      if (claim.state === 'begun') return this.#follow(entry, claim);
      if (claim.state === 'held') return entry.postponeLook(clock);
      if (claim.state === 'unseen') return this.#judgeOwner(entry);
      if (claim.state === 'put_off') return entry.learn(claim.record, clock);
      if (claim.state === 'newer') return this.#open.doubt(id);
      if (claim.state === 'damaged') this.#warn(id, claim.detail);
      this.#open.forget(id);
    } catch (error) {
      if (stopping.aborted) return;
      entry.postponeLook(clock);
      logger?.warn({ queue: keys.queue, job_id: id, err: error }, 'job not begun');
    }
  }

  #follow(entry: JobEntry, begun: BegunJob): void {
    const { id } = entry;
    entry.isWoken = false;
    entry.lookNow();
    const job = runJob(this.#context, begun);
    this.#running.set(id, job);
    this.#aside(async () => {
      const end = await job.ended;
      this.#running.delete(id);
      if (end === 'gone') this.#open.forget(id);
      else if (end === 'unknown') this.#open.doubt(id);
      else this.#open.learn(end);
      this.#kick();
    });
  }

  /** An owner that cannot be seen: waits beside the loop for its sign of life, and takes no place meanwhile. */
  #judgeOwner(entry: JobEntry): void {
    const { store, keys, clock, stopping } = this.#context;
    entry.isJudged = true;
    this.#aside(async () => {
      try {
        const { lease } = await store.acquire(keys.lease(entry.id), { signal: stopping });
        // Given back, so that whoever has a place begins it, here or elsewhere.
        if (lease) await lease.release();
        else entry.postponeLook(clock);
      } finally {
        entry.isJudged = false;
        this.#kick();
      }
    });
  }

  #aside(act: () => Promise<void>): void {
    const { keys, logger, stopping } = this.#context;
    const done = act()
      .catch((error: unknown) => {
        if (!stopping.aborted) logger?.warn({ queue: keys.queue, err: error }, 'job not settled');
      })
      .finally(() => this.#beside.delete(done));
    this.#beside.add(done);
  }

  #warn(id: string, detail: string): void {
    const { keys, logger } = this.#context;
    logger?.warn({ queue: keys.queue, job_id: id, detail }, 'job cannot be used');
  }

  #kick(): void {
    this.#isKicked = true;
    this.#nap?.abort();
  }

  async #sleep(): Promise<void> {
    const { clock } = this.#context;
    const nap = new AbortController();
    this.#nap = nap;
    const waits = this.#hasPlace() ? this.#idle().map((entry) => entry.readyAt(clock)) : [];
    const until = waits.reduce((soonest, at) => Math.min(soonest, at), this.#lookAt);
    const ms = Math.max(0, until - clock.monotonicMs());
    if (!this.#isKicked) await clock.sleep(ms, nap.signal).catch(() => {});
    this.#isKicked = false;
  }
}

function isLeft(job: KnownJob | LeftJob): job is LeftJob {
  return 'detail' in job;
}

function compareEntries(one: JobEntry, other: JobEntry): number {
  if (!one.known || !other.known) throw new Error('unreachable: an unread job is not ready');
  return compareJobs(one.known, other.known);
}

function describeOwner(owner: { readonly pid: number; readonly hostId: string } | undefined) {
  return owner ? `Process ${owner.pid} of ${owner.hostId} has it.` : 'A living process has it.';
}

import type { TurnError } from '@holdfast/agent';
import { backOffMs } from '../../engine/back-off.js';
import type { CodingOutcome } from '../coding-job.js';
import { storePatch } from '../workspace/patch-artifacts.js';
import type { LiveStage } from './live-stage.js';
import { changeThread, jobIdOf, type StageJob, settleJob } from './stage-record.js';
import { takeOutcome } from './take-outcome.js';

/** How often an operation is tried again in one go. */
const MAX_TRIES = 5;
const MAX_CLOSE_TRIES = 2;

/** Takes an outcome in: its patch first, then everything that follows from it in one write. */
export async function takeIn(
  live: LiveStage,
  job: StageJob,
  outcome: CodingOutcome,
): Promise<void> {
  const { record, parts } = live;
  const { patch } = outcome;
  const stored =
    patch && patch.patch !== '' ? await storePatch(parts.store, patch.patch) : undefined;
  const isOther = stored !== undefined && stored !== patch?.patchDigest;
  const taken = isOther
    ? 'its patch is not the one that its digest names'
    : takeOutcome(record, job, outcome);
  if (typeof taken !== 'string') return await live.write(taken);
  const why = `the ${job.seat}'s job ${jobIdOf(job)} cannot be used: ${taken}.`;
  await live.fail({ reason: 'job_failed', why }, settleJob(record, job));
}

/** Why a try came to nothing. */
export interface FailedTry {
  readonly why: string;
  /** What must change outside before another one helps. */
  readonly waitsFor?: TurnError | undefined;
}

/** The same operation again under a new job id, after a while, as often as is allowed in one go. */
export async function tryAgain(
  live: LiveStage,
  job: StageJob,
  { why, waitsFor }: FailedTry,
): Promise<void> {
  const { parts, record } = live;
  const count = live.countTry(job.operationId);
  if (job.mode === 'close' && count > MAX_CLOSE_TRIES) return await giveUpClose(live, job, why);
  if (count > (waitsFor ? 1 : MAX_TRIES)) {
    const text = `the ${job.seat}'s job was tried ${count} times; the last one said: ${why}.`;
    throw live.errorOf({ reason: 'job_unsettled', why: text }, waitsFor);
  }
  await parts.clock.sleep(backOffMs(count), live.signal);
  const next = { ...job, dispatch: job.dispatch + 1 };
  await live.write({ ...settleJob(record, job), job: next });
}

/** A thread that does not close costs the stage nothing; that it is open is told. */
export async function giveUpClose(live: LiveStage, job: StageJob, why: string): Promise<void> {
  const settled = settleJob(live.record, job);
  await live.write(changeThread(settled, job.seat, { closeError: why.slice(0, 1_000) }));
}

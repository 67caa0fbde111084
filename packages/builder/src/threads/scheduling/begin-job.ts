import { isoInstant, type Lease, ownIdentity } from '@holdfast/agent';
import type { JobContext } from '../../engine/job-engine.js';
import { keys } from '../../persistence/keys.js';
import { isCodingThreadError } from '../coding-thread-error.js';
import { mintUuidV7 } from '../contract/uuid.js';
import { jobRootOf } from '../worker/validate-spec.js';
import type { CodingWorkerSpec, WorkerEnd } from '../worker/worker-spec.js';
import { removeTree } from '../workspace/private-folder.js';
import { noteTurn } from './choose-job.js';
import type { CodingDesk } from './coding-desk.js';
import { readSpec, writeCodingJob } from './coding-job-files.js';
import type { CodingJobRecord, JobHost } from './coding-job-record.js';
import { readTurns } from './coding-job-record.wire.js';
import type { CodingRunner } from './coding-runner.js';
import { checkRunnerFit, checkSameContract, describeRunner } from './describe-runner.js';
import { endJob, failedEnd } from './end-job.js';
import { findThreadOutcome } from './find-thread-outcome.js';
import { findCancel } from './follow-job.js';
import {
  cancelledEnd,
  deadlineEnd,
  judgeProvenEnd,
  judgeSaidEnd,
  needsProof,
} from './judge-end.js';
import { type AttemptEnd, runAttempt } from './run-attempt.js';
import { keyVariables } from './runner-key.js';

/** A job under its lease. */
export interface HeldJob {
  readonly runner: CodingRunner;
  readonly record: CodingJobRecord;
  readonly lease: Lease;
  readonly context: JobContext;
}

/**
 * Runs a waiting job to its end, which is on disk when this resolves. When the engine stops meanwhile, the worker is let
 * finish: a cancel would lose its turn, and nobody else can take a process over. What bounds it is the job's own deadline.
 */
export async function beginJob(desk: CodingDesk, held: HeldJob): Promise<void> {
  const { record, lease, context } = held;
  const judged = await judgeStart(desk, held);
  const stopping = context.signal;
  if ('class' in judged) return void (await endJob(desk, record, judged, { lease, stopping }));
  await noteOwnerTurn(desk, record);
  const running: CodingJobRecord = {
    ...record,
    state: 'RUNNING',
    attempt: record.attempt + 1,
    fencingToken: record.fencingToken + 1,
    executionId: mintUuidV7(desk.clock),
    host: describeHost(),
    startedAt: isoInstant(desk.clock),
  };
  await writeCodingJob(desk, running, lease);
  const variables = keyVariables(held.runner.options.cli);
  const trying = { record: running, spec: judged, variables, lease, context };
  const attempt = await runAttempt(desk, trying);
  await clearFolder(desk, judged);
  if (!lease.isCurrent()) return;
  const end = await judgeEnd(desk, judged, attempt);
  await endJob(desk, running, end, { lease, stopping });
}

/**
 * Ends a job that a host which is gone was running. It is never run again: its thread says whether it was committed, and
 * otherwise nobody knows.
 */
export async function settleLostJob(desk: CodingDesk, held: HeldJob): Promise<void> {
  const { record, lease, context } = held;
  const stopping = context.signal;
  const end = await judgeLost(desk, record, stopping);
  await endJob(desk, record, end, { lease, stopping });
}

/** What is to be run, or the end of a job that may not begin. Everything is looked at again right before. */
async function judgeStart(
  desk: CodingDesk,
  { record, runner }: HeldJob,
): Promise<CodingWorkerSpec | WorkerEnd> {
  const cancelled = await findCancel(desk, record.jobId);
  if (cancelled !== undefined) return cancelledEnd(cancelled);
  if (desk.clock.now() >= Date.parse(record.deadlineAt)) return deadlineEnd('before it began');
  try {
    const spec = await readSpec(desk, record);
    const now = await describeRunner(desk, runner);
    checkRunnerFit(runner, now, spec.turn);
    checkSameContract(record.contract, now.contract);
    return spec;
  } catch (error) {
    if (isCodingThreadError(error)) return failedEnd(error);
    throw error;
  }
}

async function judgeEnd(
  desk: CodingDesk,
  spec: CodingWorkerSpec,
  attempt: AttemptEnd,
): Promise<WorkerEnd> {
  if (!needsProof(attempt)) return judgeSaidEnd(attempt);
  return judgeProvenEnd(attempt, await findThreadOutcome(desk, spec));
}

async function judgeLost(
  desk: CodingDesk,
  record: CodingJobRecord,
  signal: AbortSignal,
): Promise<WorkerEnd> {
  const cancelled = await findCancel(desk, record.jobId);
  const { pid, hostId } = record.host ?? {};
  const reason = `The process ${pid} of ${hostId} that ran it is gone.`;
  try {
    const spec = await readSpec(desk, record);
    const { outcome, evidence } = await findThreadOutcome(desk, spec, signal);
    await clearFolder(desk, spec);
    if (!outcome) return { class: 'unknown', reason, evidence };
    return cancelled === undefined
      ? { class: 'success', outcome }
      : cancelledEnd(cancelled, outcome);
  } catch (error) {
    if (!isCodingThreadError(error)) throw error;
    return { class: 'unknown', reason: `${reason} ${error.message}` };
  }
}

/** Of a job without a directive nothing stays; a worker that was killed could not see to it. */
async function clearFolder({ logger }: CodingDesk, spec: CodingWorkerSpec): Promise<void> {
  if (spec.turn.thread) return;
  const root = jobRootOf(spec);
  await removeTree(root).catch((error: unknown) => {
    logger?.warn({ folder: root, err: error }, 'the folder of a coding job was not taken away');
  });
}

/** Whoever had a turn comes behind those who had none since. Two builders may overlook one of each other's. */
async function noteOwnerTurn(
  { store }: CodingDesk,
  { runnerId, owner }: CodingJobRecord,
): Promise<void> {
  const key = keys.codingTurns(runnerId);
  const found = await store.read(key);
  const turns = found.state === 'present' ? readTurns(found.value) : {};
  await store.write(key, noteTurn(turns, owner));
}

function describeHost(): JobHost {
  const { pid, hostId, startTime } = ownIdentity();
  return { pid, hostId, startTime };
}

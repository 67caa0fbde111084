import { instantOf } from '../../engine/job-record.js';
import { keys } from '../../persistence/keys.js';
import type { JsonValue } from '../../persistence/store.js';
import { inTurn } from '../../persistence/write-turns.js';
import type { Sha256 } from '../coding-job.js';
import { CodingThreadError } from '../coding-thread-error.js';
import { digestOfJson } from '../contract/canonical-json.js';
import { type AdmittedJob, admitJob } from './admit-job.js';
import { type CodingDesk, DEADLINES_QUEUE } from './coding-desk.js';
import {
  createCodingJob,
  listJobIds,
  readCodingJob,
  readCodingJobs,
  waitForLease,
  writeSpec,
} from './coding-job-files.js';
import { type CodingJobRecord, isOpen } from './coding-job-record.js';
import { digestSpec, findJson } from './coding-job-record.wire.js';
import type { SubmitCodingJob } from './coding-jobs.js';
import { wakeSlots } from './slots.js';

/** Takes a job in, or finds it: what resolves is on disk, and will be run. Nothing is kept of one that is refused. */
export async function submitCodingJob(desk: CodingDesk, request: SubmitCodingJob): Promise<void> {
  const input = readInput(request);
  const inputDigest = digestRequest(request, input);
  const found = await readCodingJob(desk, request.jobId);
  if (found) return await welcomeBack(desk, found, inputDigest);
  const admitted = await admitJob(desk, { ...request, input });
  const record = describeJob(desk, request, { ...admitted, inputDigest });
  const kept = await keepJob(desk, record, admitted);
  if (kept !== record) return await welcomeBack(desk, kept, inputDigest);
  await scheduleJob(desk, record);
}

/** Puts what is owed for an open job into the queues, if it does not stand there. */
export async function scheduleJob(
  desk: CodingDesk,
  { jobId, runnerId }: Pick<CodingJobRecord, 'jobId' | 'runnerId'>,
): Promise<void> {
  await desk.engine.enqueue(DEADLINES_QUEUE, jobId, null);
  await wakeSlots(desk, runnerId);
}

function readInput({ jobId, input }: SubmitCodingJob): JsonValue {
  if (!/^[A-Za-z0-9._-]{1,128}$/.test(jobId) || /^\.+$/.test(jobId)) {
    throw invalidJob('jobId', 'must be 1 to 128 of A-Z a-z 0-9 . _ -');
  }
  const json = findJson(input);
  if (json === undefined) throw invalidJob('', 'must be plain JSON');
  return json;
}

/** Of all that the submitter asked for. How long it may take is no part of what it is. */
function digestRequest({ owner, runnerId }: SubmitCodingJob, input: JsonValue): Sha256 {
  try {
    return digestOfJson({ input, owner: { ...owner }, runnerId });
  } catch {
    throw invalidJob('', 'must be of whole characters');
  }
}

function invalidJob(path: string, rule: string): CodingThreadError {
  return new CodingThreadError('invalid_job', `The job is refused: ${path || 'it'} ${rule}.`, {
    evidence: { path, rule },
  });
}

/** The same job again, ended or not. One that a crash left unscheduled is scheduled now. */
async function welcomeBack(
  desk: CodingDesk,
  record: CodingJobRecord,
  inputDigest: Sha256,
): Promise<void> {
  const { jobId, sessionRef } = record;
  if (record.inputDigest !== inputDigest) {
    throw new CodingThreadError(
      'operation_conflict',
      `The job ${jobId} was submitted with another input; use another id.`,
      { sessionRef, evidence: { jobId, inputDigest: record.inputDigest } },
    );
  }
  if (isOpen(record)) await scheduleJob(desk, record);
}

function describeJob(
  { clock, orders }: CodingDesk,
  { jobId, owner, timeoutMs }: SubmitCodingJob,
  {
    runner,
    spec,
    contract,
    inputDigest,
  }: AdmittedJob & {
    readonly inputDigest: Sha256;
  },
): CodingJobRecord {
  const { operationId, trusted, turn } = spec;
  const sessionRef = turn.thread?.sessionRef.toLowerCase();
  const { enqueuedAt, order } = orders.next();
  return {
    ...{ jobId, runnerId: runner.runnerId, inputDigest, contract, operationId, sessionRef },
    owner: digestOfJson({ ...owner }),
    specDigest: digestSpec(spec),
    dispatch:
      sessionRef === undefined
        ? undefined
        : digestOfJson({ scope: trusted.scope, sessionRef, operationId }),
    ...{ state: 'PENDING', attempt: 0, fencingToken: 0 },
    ...{ order, submittedAt: enqueuedAt },
    deadlineAt: instantOf(clock.now() + checkTimeout(timeoutMs ?? runner.timeoutMs)),
  };
}

function checkTimeout(timeoutMs: number): number {
  if (timeoutMs > 0 && timeoutMs <= 30 * 24 * 3_600_000) return timeoutMs;
  throw new TypeError('timeoutMs must be more than 0, and at most 30 days.');
}

/** One admission of a runner after another, so that two jobs for one operation see each other. */
async function keepJob(
  desk: CodingDesk,
  record: CodingJobRecord,
  { spec }: AdmittedJob,
): Promise<CodingJobRecord> {
  const { jobId, runnerId } = record;
  const key = keys.codingAdmission(runnerId);
  return await inTurn([desk.dataDir, ...key].join('/'), async () => {
    await using lease = await waitForLease(desk, key);
    const found = await readCodingJob(desk, jobId);
    if (found) return found;
    await checkNotDispatched(desk, record);
    // The marker first: a job without one would never be seen by those who run jobs.
    await desk.store.write(keys.openCodingJob(runnerId, jobId), { jobId }, { lease });
    await writeSpec(desk, jobId, spec);
    if (await createCodingJob(desk, record)) return record;
    return (await readCodingJob(desk, jobId)) ?? record;
  });
}

async function checkNotDispatched(desk: CodingDesk, record: CodingJobRecord): Promise<void> {
  const { dispatch, runnerId, sessionRef, operationId } = record;
  if (dispatch === undefined) return;
  const open = await readCodingJobs(desk, await listJobIds(desk, keys.openCodingJobs(runnerId)));
  const first = open.find((job) => job.dispatch === dispatch && isOpen(job));
  if (!first) return;
  throw new CodingThreadError(
    'operation_conflict',
    `The operation ${operationId} was dispatched already, as the job ${first.jobId}.`,
    { sessionRef, evidence: { duplicateOf: first.jobId, operationId } },
  );
}

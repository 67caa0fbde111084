import { systemClock } from '@holdfast/agent';
import type { JsonValue } from '../../persistence/store.js';
import type { CodingPatch } from '../coding-job.js';
import { isCodingThreadError } from '../coding-thread-error.js';
import { digestOfText } from '../contract/canonical-json.js';
import { checkPublication } from '../contract/publish-gate.js';
import { mintUuidV7 } from '../contract/uuid.js';
import { getPatch } from '../workspace/patch-artifacts.js';
import type { CodingStages, RunStage, StageOutcome, StageThreadEnd } from './coding-stage.js';
import { decodeCodingStage } from './coding-stage.wire.js';
import { composeJob } from './compose-job.js';
import { cancelOpenJob, dispatchJob } from './dispatch-job.js';
import { judgeEnd } from './judge-end.js';
import { LiveStage, type StageParts } from './live-stage.js';
import { nextMove, type StageMove } from './next-move.js';
import { recoverJob, replaceThread, scopeNow } from './recover-stage-job.js';
import { type FailedTry, takeIn, tryAgain } from './settle-stage-job.js';
import { storeStageArtifact } from './stage-artifacts.js';
import { openStage, takeStage } from './stage-files.js';
import {
  getThread,
  roleOf,
  STAGE_SEATS,
  type StageJob,
  type StageRecord,
  settleJob,
} from './stage-record.js';

/** The stages of a builder: each goes on where its record says it is, whichever process runs it. */
export function createCodingStages({
  clock = systemClock,
  ...parts
}: Omit<StageParts, 'clock'> & Partial<Pick<StageParts, 'clock'>>): CodingStages {
  return { run: (request) => runStage({ ...parts, clock }, request) };
}

async function runStage(parts: StageParts, request: RunStage): Promise<StageOutcome> {
  const known = { ...request, stage: decodeCodingStage(request.stage) };
  const { signal, letGo } = request;
  const waiting = AbortSignal.any([signal, letGo].filter((one) => one !== undefined));
  await using lease = await takeStage(parts, request.key, waiting);
  const record = await openStage(parts, known, lease);
  const live = new LiveStage(parts, known, { record, lease });
  for (;;) {
    await endIfAborted(live);
    const outcome = await makeMove(live, nextMove(live.record, live.limits));
    if (outcome) return outcome;
  }
}

/** Once it is stopped, the job that is open must not go on; one that is only let go does. */
async function endIfAborted(live: LiveStage): Promise<void> {
  const { signal, letGo } = live.request;
  letGo?.throwIfAborted();
  if (!signal?.aborted) return;
  await cancelOpenJob(live);
  throw signal.reason;
}

/** Makes one move; each may be made again after a crash, and does nothing twice. */
async function makeMove(live: LiveStage, move: StageMove): Promise<StageOutcome | undefined> {
  switch (move.type) {
    case 'acknowledge':
      await acknowledge(live, move.jobIds);
      return undefined;
    case 'begin':
      await beginJob(live, move);
      return undefined;
    case 'run':
      await runJob(live, move.job);
      return undefined;
    case 'accept':
      await accept(live);
      return undefined;
    case 'fail':
      await live.fail(move.failure);
      return undefined;
    case 'failed':
      throw live.errorOf(move.failure);
    case 'done':
      return await outcomeOf(live);
  }
}

async function acknowledge(live: LiveStage, jobIds: readonly string[]): Promise<void> {
  for (const jobId of jobIds) await (await live.parts.jobs.find(jobId))?.acknowledge();
  const { unacknowledged } = live.record;
  const left = unacknowledged.filter((jobId) => !jobIds.includes(jobId));
  await live.write({ ...live.record, unacknowledged: left });
}

/** Puts a job on disk, whole, with its id and with what it is charged for. */
async function beginJob(
  live: LiveStage,
  { seat, task }: Extract<StageMove, { readonly type: 'begin' }>,
): Promise<void> {
  const { record, request, parts } = live;
  const { stage } = request;
  const operationId = mintUuidV7(parts.clock);
  const patch = await findPatchText(live);
  const input = composeJob({ stage, record, seat, task, operationId, patch });
  const plain: JsonValue = JSON.parse(JSON.stringify(input));
  const inputDigest = await storeStageArtifact(parts.store, 'job', plain);
  const mode = input.coding.thread?.mode ?? 'new';
  const isCharged = task === 'mend' && !record.isPrepaid;
  await live.write({
    ...record,
    job: { seat, mode, operationId, inputDigest, dispatch: 1, scope: scopeNow(live) },
    remediations: record.remediations + (isCharged ? 1 : 0),
    isPrepaid: task === 'mend' ? undefined : record.isPrepaid,
  });
}

async function runJob(live: LiveStage, job: StageJob): Promise<void> {
  const verdict = judgeEnd(await dispatchJob(live, job));
  switch (verdict.type) {
    case 'outcome':
      return await takeIn(live, job, verdict.outcome);
    case 'again':
      return await tryAgain(live, job, verdict);
    case 'inspect':
      await recoverJob(live, job, verdict.why);
      if (verdict.waitsFor) throw unsettled(live, job, verdict);
      return;
    case 'replace':
      return await replaceThread(live, job, verdict.why);
    case 'fail':
      return await failJob(live, job, verdict.why);
  }
}

/** What the thread is now is on disk; the next try is for when the world outside has changed. */
function unsettled(live: LiveStage, { seat }: StageJob, { why, waitsFor }: FailedTry): Error {
  const text = `the ${seat}'s job must wait: ${why}.`;
  return live.errorOf({ reason: 'job_unsettled', why: text }, waitsFor);
}

/** What no other try mends ends the stage; a close cannot. */
async function failJob(live: LiveStage, job: StageJob, why: string): Promise<void> {
  if (job.mode === 'close') return await recoverJob(live, job, why);
  const text = `the ${job.seat}'s job was refused: ${why}.`;
  await live.fail({ reason: 'job_failed', why: text }, settleJob(live.record, job));
}

/** Lets nothing through but what a reviewer approved, byte for byte. */
async function accept(live: LiveStage): Promise<void> {
  const { record } = live;
  const { candidate, ledger } = record;
  const review = record.reviews.at(-1);
  if (!candidate || !review) throw new Error('unreachable: there is nothing to accept');
  const patch = (await findPatchText(live)) ?? '';
  try {
    checkPublication({ patch, patchDigest: candidate.patchDigest, review, ledger });
  } catch (error) {
    if (!isCodingThreadError(error)) throw error;
    const differing = error.details.differingFields?.join(', ');
    const why = `${error.message} It differs in ${differing}.`;
    return await live.fail({ reason: 'publish_blocked', why });
  }
  await live.write({ ...record, verdict: 'accepted' });
}

async function findPatchText({ record, parts }: LiveStage): Promise<string | undefined> {
  const digest = record.candidate?.patchDigest;
  return digest && (await getPatch(parts.store, digest));
}

async function outcomeOf(live: LiveStage): Promise<StageOutcome> {
  const { record, request } = live;
  const { stageId, ledger, remediations, replacements, verdict, candidate } = record;
  const text = (await findPatchText(live)) ?? '';
  const patch: CodingPatch = {
    baseRevision: request.stage.baseRevision,
    patch: text,
    patchDigest: candidate?.patchDigest ?? digestOfText(text),
    changedPaths: candidate?.artifact.changedPaths ?? [],
  };
  const review = record.reviews.at(-1);
  return {
    ...{ stageId, outcome: verdict ?? 'no-change', patch, patchDigest: patch.patchDigest },
    ...(review && { review }),
    ...{ ledger, remediations, replacements, threads: listThreads(record) },
  };
}

function listThreads(record: StageRecord): readonly StageThreadEnd[] {
  const seats = STAGE_SEATS.filter((seat) => record.seats[seat]?.receipt);
  const ends = seats.map((seat): StageThreadEnd => {
    const { sessionRef, receipt, closeError } = getThread(record, seat);
    const state = receipt?.state ?? 'READY';
    return { role: roleOf(seat), sessionRef, state, receipt, ...(closeError && { closeError }) };
  });
  return [...record.lost, ...ends];
}

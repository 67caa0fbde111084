import { type CodingThreadError, isCodingThreadError } from '../coding-thread-error.js';
import { mintUuidV7 } from '../contract/uuid.js';
import type { StageThreadEnd } from './coding-stage.js';
import { getAgent } from './compose-job.js';
import { judgeThread } from './judge-thread.js';
import type { LiveStage } from './live-stage.js';
import { giveUpClose, takeIn, tryAgain } from './settle-stage-job.js';
import { changeThread, getThread, roleOf, type StageJob, settleJob } from './stage-record.js';
import type { StageThreadPlace } from './stage-threads.js';

/** Looks at the thread of a job whose end nobody knows, and goes on as its record proves. */
export async function recoverJob(live: LiveStage, job: StageJob, why: string): Promise<void> {
  if (job.mode === 'close') return await recoverClose(live, job, why);
  const { threads } = live.parts;
  const place = placeOf(live, job);
  const { operationId, mode } = job;
  const expectedCheckpoint = getThread(live.record, job.seat).receipt?.checkpoint;
  const view = await threads.inspect(place);
  const decision = {
    ...place,
    reason: `its stage found the end of ${operationId} unknown: ${why}`,
  };
  const isSameScope = job.scope === scopeNow(live);
  switch (judgeThread(view, { operationId, mode, expectedCheckpoint, isSameScope })) {
    case 'adopt': {
      const outcome = await decide(() => threads.adopt({ ...decision, operationId }));
      if (outcome.error) return await settleRefusal(live, job, outcome.error);
      return await takeIn(live, job, outcome.value);
    }
    case 'rollback': {
      const { error } = await decide(() => threads.rollback(decision));
      return error ? await settleRefusal(live, job, error) : await tryAgain(live, job, { why });
    }
    case 'again':
      return await tryAgain(live, job, { why });
    case 'replace':
      return await replaceThread(live, job, why);
  }
}

/** The scope in which the stage's threads are looked for. */
export function scopeNow({ parts, request }: LiveStage): StageJob['scope'] {
  return parts.threads.scopeOf(request.owner);
}

/** Gives a thread up, and puts a new reference in its place; what was accepted is what the new one starts from. */
export async function replaceThread(live: LiveStage, job: StageJob, why: string): Promise<void> {
  if (job.mode === 'close') return await recoverClose(live, job, why);
  const { record, parts, limits } = live;
  const { seat } = job;
  const reason = `its stage replaces it: ${why}`;
  const { error } = await decide(() => parts.threads.abandon({ ...placeOf(live, job), reason }));
  if (error?.retry === 'same') return await tryAgain(live, job, { why: error.message });
  const { sessionRef, receipt, review } = getThread(record, seat);
  const state = error?.kind === 'thread_closed' ? 'CLOSED' : 'ABANDONED';
  const lost: StageThreadEnd = { role: roleOf(seat), sessionRef, state, receipt };
  const settled = { ...settleJob(record, job), lost: [...record.lost, lost] };
  const isSpent = record.replacements >= limits.maxReplacements;
  const fresh = {
    ...settled,
    seats: { ...record.seats, [seat]: { sessionRef: mintUuidV7(parts.clock), review } },
    replacements: record.replacements + (isSpent ? 0 : 1),
    isPrepaid: seat === 'implementer' && record.candidate ? (true as const) : record.isPrepaid,
  };
  if (!isSpent) return await live.write(fresh);
  const text = `the ${seat}'s thread ${sessionRef} was lost, and ${record.replacements} were replaced already; it said: ${why}.`;
  await live.fail({ reason: 'replacements_exhausted', why: text }, fresh);
}

/** A close whose answer was lost may have happened; otherwise it is given up. */
async function recoverClose(live: LiveStage, job: StageJob, why: string): Promise<void> {
  const view = await live.parts.threads.inspect(placeOf(live, job));
  const { receipt } = getThread(live.record, job.seat);
  if (view?.state !== 'CLOSED' || !receipt) return await giveUpClose(live, job, why);
  const { sessionRef, checkpoint } = receipt;
  const closed = { sessionRef, checkpoint, state: 'CLOSED' } as const;
  await live.write(changeThread(settleJob(live.record, job), job.seat, { receipt: closed }));
}

/** A thread that is at work is asked again; any other refusal leaves nothing but another thread. */
async function settleRefusal(
  live: LiveStage,
  job: StageJob,
  { retry, message }: CodingThreadError,
): Promise<void> {
  if (retry === 'same') return await tryAgain(live, job, { why: message });
  return await replaceThread(live, job, message);
}

function placeOf({ request, record }: LiveStage, { seat }: StageJob): StageThreadPlace {
  const { runnerId } = getAgent(request.stage, seat);
  return { owner: request.owner, runnerId, sessionRef: getThread(record, seat).sessionRef };
}

type Decided<Value> =
  | { readonly value: Value; readonly error?: undefined }
  | { readonly error: CodingThreadError };

async function decide<Value>(act: () => Promise<Value>): Promise<Decided<Value>> {
  try {
    return { value: await act() };
  } catch (error) {
    if (isCodingThreadError(error)) return { error };
    throw error;
  }
}

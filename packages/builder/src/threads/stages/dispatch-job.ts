import type { JsonValue } from '../../persistence/store.js';
import { type CodingThreadError, isCodingThreadError } from '../coding-thread-error.js';
import type { CodingJobHandle } from '../scheduling/coding-jobs.js';
import type { WorkerEnd } from '../worker/worker-spec.js';
import { getAgent } from './compose-job.js';
import type { LiveStage } from './live-stage.js';
import { getStageArtifact } from './stage-artifacts.js';
import { jobIdOf, type StageJob } from './stage-record.js';

/** Submits a job that is on disk, and waits for its end. Submitted again it is the same job. */
export async function dispatchJob(live: LiveStage, job: StageJob): Promise<WorkerEnd> {
  const { parts, request } = live;
  const { owner, stage } = request;
  const input = await getStageArtifact(parts.store, job.inputDigest);
  const { runnerId } = getAgent(stage, job.seat);
  const { timeoutMs } = stage;
  try {
    const jobId = jobIdOf(job);
    const handle = await parts.jobs.submit({ jobId, input, owner, runnerId, timeoutMs });
    return await waitForEnd(live, handle);
  } catch (error) {
    if (isCodingThreadError(error)) return refusalOf(error);
    throw error;
  }
}

async function waitForEnd(live: LiveStage, handle: CodingJobHandle): Promise<WorkerEnd> {
  const { signal, letGo } = live.request;
  // One that was over before we came is judged by its thread, also where somebody cancelled it.
  const known = await handle.view();
  if (known.end) return known.end;
  const failed = await handle.result({ signal: live.signal }).then(
    () => undefined,
    (error: unknown) => ({ error }),
  );
  letGo?.throwIfAborted();
  if (signal?.aborted) {
    await cancel(live, handle);
    throw signal.reason;
  }
  const { end } = await handle.view();
  if (!end) throw failed?.error ?? new Error(`unreachable: ${handle.jobId} has no end`);
  if (end.class !== 'cancelled') return end;
  const why = `the job ${handle.jobId} was cancelled: ${end.reason}.`;
  throw live.errorOf({ reason: 'job_cancelled', why }, failed?.error);
}

/** Cancels the job that is on disk, where it was dispatched. */
export async function cancelOpenJob(live: LiveStage): Promise<void> {
  const { job } = live.record;
  const handle = job && (await live.parts.jobs.find(jobIdOf(job)));
  if (handle) await cancel(live, handle);
}

async function cancel({ request }: LiveStage, handle: CodingJobHandle): Promise<void> {
  await handle.cancel(`the stage was stopped: ${describe(request.signal?.reason)}`);
}

/** What was refused before it began ends like one that failed. */
function refusalOf(error: CodingThreadError): WorkerEnd {
  const { kind, message, retry } = error;
  const json: JsonValue = JSON.parse(JSON.stringify(error));
  return { class: 'failed', error: { kind, family: 'coding_thread', message, retry, json } };
}

function describe(reason: unknown): string {
  return reason instanceof Error ? reason.message : String(reason);
}

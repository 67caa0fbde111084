import { randomBytes } from 'node:crypto';
import { ProcessStartError } from '@holdfast/agent';
import { CodingThreadError, isCodingThreadError } from '../coding-thread-error.js';
import { describeWorkerError } from '../worker/worker-error.js';
import type { WorkerEnd } from '../worker/worker-spec.js';
import type { WorkerRun } from './coding-workers.js';
import { encodeFrame } from './frame-reader.js';
import { failedToStart } from './judge-worker-end.js';
import { startWorker } from './started-worker.js';
import { reasonOf, WorkerConversation } from './worker-conversation.js';
import { createWorkerEnvironment } from './worker-environment.js';
import { markOf } from './worker-marker.js';
import type { WorkerPlace } from './worker-place.js';
import { WorkerProtocolError } from './worker-protocol-error.js';

/** One try in a worker of its own; settles once nothing of it is left. */
export async function runWorker(place: WorkerPlace, run: WorkerRun): Promise<WorkerEnd> {
  try {
    const conversation = await beginConversation(place, run);
    return conversation
      ? await conversation.hold()
      : { class: 'cancelled', reason: reasonOf(run.signal) };
  } catch (error) {
    // Up to here nothing was begun: a conversation that was begun tells its own end.
    if (isCodingThreadError(error)) return { class: 'failed', error: describeWorkerError(error) };
    if (error instanceof ProcessStartError) return failedToStart(error.message);
    throw error;
  }
}

/** `undefined` when it was cancelled before anything was started. */
async function beginConversation(
  place: WorkerPlace,
  run: WorkerRun,
): Promise<WorkerConversation | undefined> {
  const { spec, variables, executionId, fencingToken } = run;
  const { clock, graceMs, logger } = place;
  checkSize(run);
  const named = createWorkerEnvironment(spec, { ...process.env, ...variables });
  const env = { ...named, ...place.environment };
  const capabilityDigest = await place.capabilityDigest(spec.adapterId);
  if (run.signal.aborted) return undefined;
  const transportNonce = randomBytes(24).toString('hex');
  const leaseId = randomBytes(12).toString('hex');
  const identity = { executionId, leaseId, fencingToken, transportNonce };
  const mark = markOf(transportNonce);
  const { adapterId } = spec;
  const worker = await startWorker({ file: place.file, adapterId, env, mark, clock });
  const expected = { identity, spec, capabilityDigest };
  return new WorkerConversation({ run, worker, expected, graceMs, clock, logger });
}

/** A spec that no frame can hold would end the try; it is said before anything is started. */
function checkSize({ spec }: WorkerRun): void {
  try {
    encodeFrame({ spec, rest: ' '.repeat(1024) });
  } catch (error) {
    if (!(error instanceof WorkerProtocolError)) throw error;
    throw new CodingThreadError('invalid_job', 'The job is larger than a worker can be told.');
  }
}

import type { CodingWorkers } from './coding-workers.js';
import { runWorker } from './run-worker.js';
import { type CodingWorkersOptions, openWorkerPlace } from './worker-place.js';

/** Runs each try of a job in a process of its own, which is gone with all it started when its end is told. */
export function createCodingWorkers(options: CodingWorkersOptions = {}): CodingWorkers {
  const place = openWorkerPlace(options);
  return { run: (run) => runWorker(place, run), capabilityDigest: place.capabilityDigest };
}

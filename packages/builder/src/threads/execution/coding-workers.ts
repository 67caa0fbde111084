import type { CodingWorkerSpec, WorkerEnd, WorkerProgress } from '../worker/worker-spec.js';

/** One try of a job in a worker process of its own. */
export interface WorkerRun {
  readonly spec: CodingWorkerSpec;
  /** Variables that the spec names and the environment of this process lacks. They are written down nowhere. */
  readonly variables?: Readonly<Record<string, string>> | undefined;
  readonly executionId: string;
  /** Rises with every try of a job: what an older try says does not count. */
  readonly fencingToken: number;
  /** Aborting it cancels: the worker is told, then ended with everything it started. */
  readonly signal: AbortSignal;
  /** Milliseconds since the epoch; the worker is ended then. It may be put off while the worker runs. */
  readonly deadlineAt: () => number;
  readonly onProgress: (progress: WorkerProgress) => void;
}

/** Runs workers; each ends with its CLI, whatever happens. */
export interface CodingWorkers {
  /** Settles once the worker and all it started are gone. It never rejects: what cannot be told is `unknown`. */
  readonly run: (run: WorkerRun) => Promise<WorkerEnd>;
  /** Digest of what the workers can do, as their own `print-capabilities` says it. */
  readonly capabilityDigest: (adapterId: string) => Promise<string>;
}

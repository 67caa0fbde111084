import type { JobEngine } from '../job-engine.js';

/** A job engine under test, with what may befall it from outside. Disposing of it stops every engine and process it started. */
export interface JobEngineSubject extends AsyncDisposable {
  /** One more engine on the same jobs, as another process would open it; not started. */
  readonly open: () => Promise<JobEngine>;
  /** Starts a process that hands an engine on the same jobs to `holdJobs`. Resolves once that engine has begun. */
  readonly spawnHolder: () => Promise<JobHolder>;
  /** Puts at a job what no reader can understand, as a power cut may. */
  readonly damage: (queue: string, id: string) => Promise<void>;
}

/** Another process with an engine of its own. */
export interface JobHolder {
  /** Kills it by SIGKILL. Resolves once it is dead. */
  readonly kill: () => Promise<void>;
}

/** One promise of the port and its proof. */
export interface JobEngineCase {
  readonly title: string;
  readonly prove: (subject: JobEngineSubject) => Promise<void>;
}

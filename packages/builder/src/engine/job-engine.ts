import type { JsonValue } from '../persistence/store.js';

/** One piece of durable work. */
export interface Job {
  readonly queue: string;
  /** The idempotency key within its queue; what a store key's segment may hold. */
  readonly id: string;
  readonly payload: JsonValue;
  /** ISO 8601; jobs are begun in this order, those that were put off by the instant they may begin again. */
  readonly enqueuedAt: string;
  /** How often it was begun, this time included. Written before the handler is called. */
  readonly attempt: number;
}

/** What a handler says of its job. A rejection is a `retry` with back-off. */
export type JobOutcome =
  | { readonly state: 'done' }
  /** Again, after a back-off that grows with the attempts. Past `maxAttempts` the job is parked. */
  | { readonly state: 'retry'; readonly reason: string }
  /** Again at an instant (ISO 8601), or at once but behind what waits already; no attempt is counted. */
  | { readonly state: 'later'; readonly reason: string; readonly notBefore?: string | undefined }
  /** Not again until `wake`. Survives a restart. */
  | { readonly state: 'parked'; readonly reason: string };

/** What a handler is given beside its job. */
export interface JobContext {
  /** Aborts when the engine stops, the job is cancelled or was taken over. A `retry` after a stop counts no attempt. */
  readonly signal: AbortSignal;
  /** False as soon as the job was cancelled or another process took it over: nothing may be written then. */
  readonly isCurrent: () => boolean;
}

/** Runs the jobs of a queue; called again with the same job after a crash. */
export type JobHandler = (job: Job, context: JobContext) => Promise<JobOutcome>;

/** A job as it stands in a list. */
export interface JobView extends Omit<Job, 'payload'> {
  readonly state: 'waiting' | 'running' | 'parked';
  /** Why it waits or is parked. */
  readonly reason?: string | undefined;
  /** ISO 8601; not begun before. */
  readonly notBefore?: string | undefined;
}

/** What an engine found when it began. */
export interface EngineReport {
  /** Taken over, to be run here or wherever a place is free, oldest first. */
  readonly queued: readonly JobView[];
  /** Left alone, and why. */
  readonly left: readonly {
    readonly queue: string;
    readonly id: string;
    readonly reason: 'live_owner' | 'parked' | 'not_before' | 'no_handler' | 'damaged';
    readonly detail: string;
  }[];
}

/** How a job is put into its queue. */
export interface EnqueueOptions {
  /** Wakes a job of that id which stands there already, so that what was just written is not overlooked; false when absent. */
  readonly wakes?: boolean | undefined;
}

/** How the jobs of a queue are run. */
export interface QueueOptions {
  /** How many run at once in this process; no bound when absent. */
  readonly concurrency?: number | undefined;
  /**
   * How many failed or crashed attempts until the job is parked; 20 when absent. A handler that bounds the attempts of its
   * own parts gives `Number.POSITIVE_INFINITY`.
   */
  readonly maxAttempts?: number | undefined;
}

/**
 * Durable jobs: each is run by one live process at a time until it is done, whatever dies. The default keeps them in the
 * builder's store; another implementation must pass `testJobEngine`.
 */
export interface JobEngine extends AsyncDisposable {
  /** Says who runs a queue. Before `start`. */
  readonly handle: (queue: string, handler: JobHandler, options?: QueueOptions) => void;
  /** On disk when it resolves. The same id again changes nothing and is `false`. */
  readonly enqueue: (
    queue: string,
    id: string,
    payload: JsonValue,
    options?: EnqueueOptions,
  ) => Promise<boolean>;
  /** Looks through everything open, reports, and begins. From then on it also finds what a peer that dies leaves. */
  readonly start: () => Promise<EngineReport>;
  /**
   * Runs a waiting or parked job as soon as a place is free, its attempts forgotten. One that is running is run once more after
   * that, whatever it says, so that no wake is lost. False when there is no such job.
   */
  readonly wake: (queue: string, id: string) => Promise<boolean>;
  /** Takes the job away and aborts it where it runs here; elsewhere its owner soon sees `isCurrent` false. */
  readonly cancel: (queue: string, id: string) => Promise<void>;
  readonly list: (queue: string) => Promise<readonly JobView[]>;
  /** Begins nothing more, aborts what runs and waits for it. Every job stays on disk. */
  readonly stop: () => Promise<void>;
}

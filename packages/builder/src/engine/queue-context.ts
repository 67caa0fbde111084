import type { Clock, Logger } from '@holdfast/agent';
import type { Store } from '../persistence/store.js';
import type { JobHandler } from './job-engine.js';
import type { QueueKeys } from './job-keys.js';
import type { JobOrders } from './job-record.js';

/** What everything that touches a queue's jobs is given. */
export interface QueueAccess {
  readonly store: Store;
  readonly keys: QueueKeys;
  readonly clock: Clock;
  readonly orders: JobOrders;
  readonly logger?: Logger | undefined;
}

/** The same for a queue that is run here. */
export interface QueueContext extends QueueAccess {
  readonly handler: JobHandler;
  readonly concurrency: number;
  readonly maxAttempts: number;
  readonly pollMs: number;
  /** Aborts when the engine stops. */
  readonly stopping: AbortSignal;
}

import type { Phase } from './phases.js';
import type { UpgradeObstacle } from './upgrade-schema-1.js';

/** One execution that was found open, and where it stands. */
export interface FoundExecution {
  readonly executionId: string;
  /** The first phase that is not settled, where its state could be read. */
  readonly phase?: Phase | undefined;
  /** For people: what it is gone on with, or why it is not. */
  readonly why: string;
}

/** One that is left as it is. */
export interface LeftExecution extends FoundExecution {
  readonly reason:
    | 'live_owner'
    | 'parked'
    | 'not_before'
    | 'unregistered_agent'
    | 'unknown_workflow'
    | 'damaged'
    | 'newer_schema'
    | 'unreadable'
    | UpgradeObstacle;
}

/** Every execution that was found open, oldest first; each stands in `queued` or in `left`. */
export interface ExecutionRecovery {
  readonly found: readonly FoundExecution[];
  readonly queued: readonly FoundExecution[];
  /** Kept on disk as they are, and why. */
  readonly left: readonly LeftExecution[];
}

/** What was made of one execution. */
export type Verdict =
  | (FoundExecution & { readonly createdAt: string; readonly reason?: undefined })
  | (LeftExecution & { readonly createdAt: string });

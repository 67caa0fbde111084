import type { ErrorJson } from '@holdfast/agent';
import type { SessionOwner } from '../executions/execution-owner.js';
import type { ExecutionOutcome } from '../workflow/continuation-state.js';

/** What a handler is told; it may be told again after a crash, with the same id. */
export interface Notification {
  /** The dedupe key. */
  readonly notificationId: string;
  readonly executionId: string;
  /** Never `completed` for a run that failed. */
  readonly outcome: Exclude<ExecutionOutcome, 'open'>;
  /** `[AUTO-NOTIFICATION]`, what ended and its result. */
  readonly text: string;
  /** Whose session is told of it. */
  readonly target?: SessionOwner | undefined;
  readonly at: string;
}

/** One entry of the durable outbox. */
export interface OutboxEntry extends Notification {
  /** The turn in the target's session; made with the entry. */
  readonly turnId: string;
  readonly session: DeliveryState;
  readonly handler: DeliveryState;
  readonly updatedAt: string;
}

/** How far one target of a notification came. `none`: there is no such target. */
export interface DeliveryState {
  readonly state: 'none' | 'pending' | 'delivered' | 'dead_letter';
  readonly attempts: number;
  readonly notBefore?: string | undefined;
  readonly error?: ErrorJson | undefined;
}

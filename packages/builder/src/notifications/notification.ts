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

/** Told of every notification, at least once; `notificationId` tells a repeated one. A rejection is tried again. */
export type NotificationHandler = (
  notification: Notification,
  context: { readonly signal: AbortSignal },
) => void | Promise<void>;

/** One entry of the durable outbox. */
export interface OutboxEntry extends Notification {
  /** The turn in the target's session; made with the entry. */
  readonly turnId: string;
  readonly session: DeliveryState;
  readonly handler: DeliveryState;
  readonly updatedAt: string;
}

/** Where a notification goes: into the session of its target, and to the service's handler. */
export type DeliveryTarget = 'session' | 'handler';

/** How far one target of a notification came. `none`: there is no such target. */
export interface DeliveryState {
  readonly state: 'none' | 'pending' | 'delivered' | 'dead_letter';
  /** How often it was tried; written before each try. */
  readonly attempts: number;
  /** How often in a row the session could not take it yet: busy, limited or signed out. No attempt is counted for these. */
  readonly waits?: number | undefined;
  /** A text is being put into a running turn that keeps no record of it: found so after a crash, it is uncertain. */
  readonly steering?: boolean | undefined;
  /** ISO 8601; not tried again before. */
  readonly notBefore?: string | undefined;
  /** Why the last try failed. */
  readonly error?: ErrorJson | undefined;
  /** How it was delivered: as a turn of its own, into a running turn that took it in, or to the handler. */
  readonly via?: 'turn' | 'steered' | 'handler' | undefined;
}

/** Where an entry as a whole stands: `pending` while any target is, `dead_letter` when one was given up. */
export type OutboxState = 'pending' | 'delivered' | 'dead_letter';

/** The state of an entry from those of its targets. */
export function outboxStateOf({
  session,
  handler,
}: Pick<OutboxEntry, DeliveryTarget>): OutboxState {
  const states = [session.state, handler.state];
  if (states.includes('pending')) return 'pending';
  return states.includes('dead_letter') ? 'dead_letter' : 'delivered';
}

import type { AgentTurnEvent, ErrorJson } from '@holdfast/agent';
import type { OwnerKind } from '../executions/execution-key.js';
import type { ExecutionOutcome, Suspension } from './continuation-state.js';
import type { Phase } from './phases.js';

/** Carried by every event of an execution's log. */
export interface WorkflowEventStamp {
  readonly executionId: string;
  readonly ownerKind: OwnerKind | (string & {});
  readonly correlationId: string;
  /** From 0, without gaps within one execution. */
  readonly sequence: number;
  /** ISO 8601, for people. */
  readonly at: string;
}

/** What happens to an execution, in the order it became durable. */
export type WorkflowEventBody =
  | { readonly type: 'execution_opened' }
  | { readonly type: 'phase_started'; readonly phase: Phase; readonly attempt: number }
  | { readonly type: 'phase_completed'; readonly phase: Phase }
  | { readonly type: 'phase_failed'; readonly phase: Phase; readonly error: ErrorJson }
  | {
      readonly type: 'phase_retry_scheduled';
      readonly phase: Phase;
      readonly attempt: number;
      readonly notBefore: string;
      readonly error: ErrorJson;
    }
  | { readonly type: 'phase_suspended'; readonly phase: Phase; readonly suspension: Suspension }
  | { readonly type: 'recovery_queued'; readonly phase: Phase }
  | { readonly type: 'pre_validation_passed' }
  | {
      readonly type: 'pre_validation_failed';
      readonly feedback: string;
      readonly willRetry: boolean;
    }
  | {
      readonly type: 'waiting_for_learning_lock';
      readonly phase: Phase;
      readonly holder?: string | undefined;
      readonly position: number;
    }
  | { readonly type: 'learning_continuation_resumed'; readonly phase: Phase }
  | { readonly type: 'learning_completed'; readonly phase: Phase }
  | { readonly type: 'kb_review_completed'; readonly phase: Phase }
  | {
      readonly type: 'auto_notification_sent';
      readonly notificationId: string;
      readonly target: 'session' | 'handler' | 'none';
    }
  | { readonly type: 'sub_agent_started'; readonly childExecutionId: string }
  /** What the agent told meanwhile, wrapped. Deltas are not kept. */
  | {
      readonly type: 'provider_event';
      readonly phase: Phase;
      readonly turnId: string;
      readonly event: AgentTurnEvent;
    }
  | {
      readonly type: 'execution_ended';
      readonly outcome: Exclude<ExecutionOutcome, 'open'>;
      readonly error?: ErrorJson | undefined;
    };

/** One line of an execution's log, `logs/{step}/events.jsonl`. */
export type WorkflowEvent = WorkflowEventBody & WorkflowEventStamp;

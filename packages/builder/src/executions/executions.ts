import type { JsonValue } from '../persistence/store.js';
import type { ContinuationState } from '../workflow/continuation-state.js';
import type { WorkflowEvent } from '../workflow/workflow-event.js';
import type { ExecutionKey, OwnerKind } from './execution-key.js';
import type { SessionOwner } from './execution-owner.js';

/** What an execution is begun with. */
export interface StartExecution {
  readonly key: ExecutionKey;
  readonly ownerKind: OwnerKind;
  /** Absent for a coding step, which has no session of its own. */
  readonly agent?: string | undefined;
  /** The one message of a sub-agent or background agent. A workflow's step takes its messages from the definition. */
  readonly prompt?: string | undefined;
  /** The workflow whose definition of the step `key.step` says what is owed. */
  readonly workflowId?: string | undefined;
  /** Whose completion waits for this one and may stop it. */
  readonly owner?: SessionOwner | undefined;
  /** Whose session is told of the end. */
  readonly notify?: SessionOwner | undefined;
  readonly correlationId?: string | undefined;
  readonly input?: JsonValue | undefined;
}

/** How an execution's events are read. */
export interface ExecutionEventsOptions {
  /** The first sequence number wanted; 0 when absent. */
  readonly from?: number | undefined;
  /** Waits for further events until it aborts; without it, reading ends with what is on disk. */
  readonly follow?: AbortSignal | undefined;
}

/** The executions of one data directory: workflow steps, sub-steps, sub-agents and background agents alike. */
export interface Executions {
  /** On disk with what it owes, and queued, when it resolves. The same key again changes nothing and gives what is there. */
  readonly start: (request: StartExecution) => Promise<ContinuationState>;
  /** The state on disk, or `unknown_execution`. */
  readonly get: (executionId: string) => Promise<ContinuationState>;
  /** Resolves once the execution has ended, in whichever process. A TypeError once the builder was closed. */
  readonly wait: (
    executionId: string,
    options?: { readonly signal?: AbortSignal | undefined },
  ) => Promise<ContinuationState>;
  /** Fences every later start of it and of what it owns, and interrupts what runs. Ended ones are left as they are. */
  readonly stop: (executionId: string, reason: string) => Promise<void>;
  /** Goes on with a suspended or parked execution now, e.g. after a sign-in. */
  readonly resume: (executionId: string) => Promise<void>;
  /** The executions of one run folder, by step. */
  readonly list: (
    run: Pick<ExecutionKey, 'iteration' | 'group'>,
  ) => Promise<readonly ContinuationState[]>;
  readonly events: (
    executionId: string,
    options?: ExecutionEventsOptions,
  ) => AsyncIterable<WorkflowEvent>;
}

/** Same symbol in every installed copy of this package, so that recognition survives duplicates. */
const brand = Symbol.for('holdfast.WorkflowError');

/** Why a workflow or an execution cannot go on. */
export type WorkflowErrorKind =
  | 'unknown_workflow'
  | 'unknown_execution'
  | 'unknown_notification'
  | 'unregistered_agent'
  | 'validation_failed'
  | 'execution_stopped'
  | 'attempts_exhausted'
  | 'child_failed';

/** A workflow, or one of its executions, that cannot go on. Its state is kept. Narrow it with {@link isWorkflowError}. */
export abstract class WorkflowError extends Error {
  abstract readonly kind: WorkflowErrorKind;

  protected constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
    Object.defineProperty(this, brand, { value: true });
  }

  /** The error as plain JSON. */
  toJSON(): { readonly kind: WorkflowErrorKind; readonly message: string } {
    return { kind: this.kind, message: this.message };
  }
}

/** The id names no workflow that was given to `createBuilder`. */
export class UnknownWorkflowError extends WorkflowError {
  readonly kind = 'unknown_workflow';

  constructor(readonly workflow: string) {
    super(
      `There is no workflow ${workflow}. Its state is kept; give createBuilder one of that id.`,
    );
  }
}

/** No execution of that id stands in the data directory. */
export class UnknownExecutionError extends WorkflowError {
  readonly kind = 'unknown_execution';

  constructor(readonly executionId: string) {
    super(`There is no execution ${executionId}. Look for its id in executions.list().`);
  }
}

/** No notification of that id stands in the outbox. */
export class UnknownNotificationError extends WorkflowError {
  readonly kind = 'unknown_notification';

  constructor(readonly notificationId: string) {
    super(`There is no notification ${notificationId}. Look for its id in notifications.list().`);
  }
}

/** The execution names an agent that was not given to `createBuilder`. */
export class UnregisteredAgentError extends WorkflowError {
  readonly kind = 'unregistered_agent';

  constructor(
    readonly executionId: string,
    readonly agent: string,
  ) {
    super(
      `The execution ${executionId} needs the agent ${agent}, which is not registered. Its state is kept; give createBuilder an agent of that id.`,
    );
  }
}

/** The answer did not pass validation, also after the feedback that may be sent. */
export class ValidationFailedError extends WorkflowError {
  readonly kind = 'validation_failed';

  constructor(readonly feedback: string) {
    super(`Validation failed: ${feedback}`);
  }
}

/** The execution, or one that owns it, was stopped; nothing of it is begun again. */
export class ExecutionStoppedError extends WorkflowError {
  readonly kind = 'execution_stopped';

  constructor(
    readonly executionId: string,
    reason: string,
  ) {
    super(`The execution ${executionId} was stopped: ${reason}`);
  }
}

/** A phase failed as often as it may. */
export class AttemptsExhaustedError extends WorkflowError {
  readonly kind = 'attempts_exhausted';

  constructor(attempts: number, last: string, options?: ErrorOptions) {
    super(`Given up after ${attempts} attempts; the last one said: ${last}`, options);
  }
}

/** A sub-step did not complete. */
export class ChildFailedError extends WorkflowError {
  readonly kind = 'child_failed';

  constructor(readonly childExecutionId: string) {
    super(`The sub-step ${childExecutionId} did not complete; its own state says why.`);
  }
}

/** Every workflow error; switch on `kind`. */
export type AnyWorkflowError =
  | UnknownWorkflowError
  | UnknownExecutionError
  | UnknownNotificationError
  | UnregisteredAgentError
  | ValidationFailedError
  | ExecutionStoppedError
  | AttemptsExhaustedError
  | ChildFailedError;

/** Recognises a workflow error from any installed copy of this package. */
export function isWorkflowError(value: unknown): value is AnyWorkflowError {
  return typeof value === 'object' && value !== null && brand in value;
}

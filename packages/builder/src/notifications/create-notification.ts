import type { ContinuationState } from '../workflow/continuation-state.js';
import { clipText, joinLines } from './clip-text.js';
import type { Notification } from './notification.js';

const MAX_RESULT_CHARACTERS = 2_000;

/** What is told of an execution that is over. */
export interface EndOfExecution {
  readonly state: Pick<
    ContinuationState,
    'executionId' | 'ownerKind' | 'agent' | 'stepId' | 'answer' | 'notify'
  >;
  readonly outcome: Notification['outcome'];
  /** Why it did not complete. Not told of one that did. */
  readonly reason?: string | undefined;
  /** ISO 8601. */
  readonly at: string;
}

/** The notification of an execution's end: the same end gives the same id. Pure. */
export function createNotification(end: EndOfExecution): Notification {
  const { state, outcome, at } = end;
  return {
    notificationId: `${state.executionId}~${outcome}`,
    executionId: state.executionId,
    outcome,
    text: writeText(end),
    at,
    ...(state.notify && { target: state.notify }),
  };
}

/** One header line and one result line. Only a completed execution's answer is shown as its result. */
function writeText({ state, outcome, reason }: EndOfExecution): string {
  const header = writeHeader(nameOf(state), outcome, `execution ${state.executionId}`);
  const told = joinLines((outcome === 'completed' ? state.answer : reason) ?? '');
  return `${header}\n${LABELS[outcome]}: ${told === '' ? NOTHING[outcome] : clipText(told, MAX_RESULT_CHARACTERS)}`;
}

/** The line by which a session tells a notification from a message: what ended, how, and which one it was. Pure. */
export function writeHeader(what: string, outcome: Notification['outcome'], which: string): string {
  return `[AUTO-NOTIFICATION] ${what} ${VERBS[outcome]} (${which}).`;
}

const VERBS = {
  completed: 'completed',
  failed: 'FAILED and did not complete',
  stopped: 'was STOPPED before its end',
};

const LABELS = { completed: 'Result', failed: 'Error', stopped: 'Reason' };

const NOTHING = { completed: '(no text)', failed: '(not known)', stopped: '(none given)' };

function nameOf({ ownerKind, agent, stepId }: EndOfExecution['state']): string {
  switch (ownerKind) {
    case 'sub_agent':
      return `Sub-agent ${agent ?? stepId}`;
    case 'background_agent':
      return `Background agent ${agent ?? stepId}`;
    case 'workflow':
      return 'The workflow';
    case 'todo_sub_step':
      return `Sub-step ${stepId}`;
    default:
      return `Step ${stepId}`;
  }
}

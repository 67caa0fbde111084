import { type ErrorJson, isContinuationError, isTurnError } from '@holdfast/agent';
import { isChatError } from '../chat/chat-error.js';
import { isWorkflowError } from '../workflow/workflow-error.js';
import { clipText } from './clip-text.js';

const MAX_MESSAGE_CHARACTERS = 500;

/** Any error as plain JSON: ours with their facts, a foreign one by its name and the start of its message. */
export function describeFailure(error: unknown): ErrorJson {
  if (isTurnError(error) || isContinuationError(error)) return error.toJSON();
  if (isWorkflowError(error)) return describe('workflow', error.kind, error);
  if (isChatError(error)) return describe('chat', error.kind, error);
  return describe('other', 'failed', error instanceof Error ? error : notAnError(error));
}

function notAnError(thrown: unknown) {
  return { name: 'Error', message: String(thrown) };
}

function describe(
  family: string,
  kind: string,
  { name, message }: Pick<Error, 'name' | 'message'>,
): ErrorJson {
  return { family, kind, name, message: clipText(message, MAX_MESSAGE_CHARACTERS), facts: {} };
}

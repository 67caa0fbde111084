import { UndeliverableMessageError } from '../errors/turn-error.js';
import type { ModelMessage, ModelStepRequest } from '../spec/model-port.js';
import { checkWellFormedText } from './well-formed-text.js';

/** Refuses a step that cannot be sent exactly, before anything is sent. */
export function checkStep({ system, messages, tools }: ModelStepRequest): void {
  checkWellFormedText(system ?? '', 'The system prompt');
  for (const tool of tools) checkWellFormedValue(tool, `The tool ${tool.name}`);
  for (const [index, message] of messages.entries()) {
    checkWellFormedValue(message, `Message ${index} (${message.role})`);
    checkHasContent(message, index);
  }
}

function checkWellFormedValue(value: unknown, what: string): void {
  if (typeof value === 'string') checkWellFormedText(value, what);
  if (typeof value !== 'object' || value === null) return;
  for (const [key, part] of Object.entries(value)) {
    checkWellFormedText(key, what);
    checkWellFormedValue(part, what);
  }
}

/** No vendor takes an empty message, and one that is left out in silence would be lost. */
function checkHasContent(message: ModelMessage, index: number): void {
  if (message.role !== 'user') return;
  if (message.content.some((part) => part.type !== 'text' || part.text !== '')) return;
  throw new UndeliverableMessageError('empty_message', `Message ${index} (user) has no content.`);
}

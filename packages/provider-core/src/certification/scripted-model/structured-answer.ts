import { isJsonRecord, readJson } from './json-value.js';
import type { ModelRequest } from './model-request.js';
import type { ScriptedStep } from './scripted-step.js';

const TOOL = 'StructuredOutput';
const REMINDER = /^\[structured-output-enforce\]/;

/**
 * A CLI that holds answers to a schema takes them by a tool, and asks for its call where words came. As a model does, this one
 * then calls it with the JSON that it said.
 */
export function answerReminder(message: string, request: ModelRequest): ScriptedStep | undefined {
  if (!REMINDER.test(message) || !request.toolNames.includes(TOOL)) return undefined;
  const said = request.messages.findLast(({ role }) => role === 'assistant')?.texts.at(-1) ?? '';
  const input = readJson(said);
  return isJsonRecord(input) ? { tools: [{ name: TOOL, input }] } : undefined;
}

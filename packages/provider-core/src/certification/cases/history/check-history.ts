import assert from 'node:assert/strict';
import { countMessage } from '../../conversation.js';
import type { HistorySubject } from '../../history-subject.js';
import { readUserMessages } from '../../scripted-model/user-messages.js';

/** What every proof starts with. */
export const CODEWORD = 'Remember the codeword heron.';
/** What only a model that sees the first message can answer. */
export const QUESTION = 'What is the codeword?';

/** Asserts that the model last saw these user messages: each once, as one of its own, in order, with an answer between. */
export function checkHistory(subject: HistorySubject, messages: readonly string[]): void {
  const request = subject.modelRequests().at(-1);
  assert.ok(request, 'the model was never asked');
  assert.deepEqual(readUserMessages(request), messages, 'the user messages the model saw');
  for (const message of messages) {
    assert.equal(countMessage(request, message), 1, `times the request holds ${message}`);
  }
}

/** Who spoke, in order, as the model last saw it. */
export function readRoles(subject: HistorySubject): readonly string[] {
  const items = subject.modelRequests().at(-1)?.messages ?? [];
  return items.map(({ role }) => role).filter((role) => role !== 'system' && role !== 'developer');
}

/** What the tools gave, as the model last saw it. */
export function readToolResults(subject: HistorySubject): readonly string[] {
  const items = subject.modelRequests().at(-1)?.messages ?? [];
  return items.filter(({ role }) => role === 'tool').map(({ texts }) => texts.join(''));
}

/** Asserts that nothing reached the model while `act` ran. */
export async function sendsNothing<Value>(
  subject: HistorySubject,
  act: () => Promise<Value>,
): Promise<Value> {
  const before = subject.modelRequests().length;
  const value = await act();
  assert.equal(subject.modelRequests().length, before, 'requests that should not have been made');
  return value;
}

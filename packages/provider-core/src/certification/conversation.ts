import assert from 'node:assert/strict';
import type { ModelRequest } from './scripted-model/model-request.js';
import { readUserMessages } from './scripted-model/user-messages.js';
import type { CertificationSubject, HandleJson } from './subject.js';

/**
 * Asserts that the model last saw exactly `messages`: each as a user message of its own, in order, and its text once in
 * the whole body; and that the provider's own record holds the same.
 */
export async function checkConversation(
  subject: CertificationSubject,
  handle: HandleJson,
  messages: readonly string[],
): Promise<void> {
  const request = subject.modelRequests().at(-1);
  assert.ok(request, 'the model was never asked');
  assert.deepEqual(readUserMessages(request), messages, 'the user messages the model saw');
  for (const message of messages) {
    assert.equal(countMessage(request, message), 1, `times the request holds ${preview(message)}`);
  }
  assert.deepEqual(
    await subject.recordedMessages(handle),
    messages,
    "the user messages in the provider's record",
  );
}

/** Asserts that nothing reached the model while `act` ran, and returns what it gave. */
export async function withoutRequests<Value>(
  subject: CertificationSubject,
  act: () => Promise<Value>,
): Promise<Value> {
  const before = subject.modelRequests().length;
  const value = await act();
  assert.equal(subject.modelRequests().length, before, 'requests that should not have been made');
  return value;
}

/** Asserts that `turn` fails with an error of this kind and these facts. */
export async function expectError(
  turn: Promise<unknown>,
  kind: string,
  facts: Readonly<Record<string, unknown>> = {},
): Promise<void> {
  await assert.rejects(turn, (error: unknown) => {
    const seen: Readonly<Record<string, unknown>> =
      typeof error === 'object' && error !== null ? { ...error } : {};
    const wanted = { kind, ...facts };
    const got = Object.fromEntries(Object.keys(wanted).map((key) => [key, seen[key]]));
    assert.deepEqual(got, wanted, `the error was: ${String(error)}`);
    return true;
  });
}

/** How often a text stands in a request's body. What the model itself said is left out: it may have quoted it. */
export function countMessage(request: ModelRequest, message: string): number {
  const said = request.messages.flatMap(({ role, texts }) => (role === 'assistant' ? texts : []));
  const quoted = said.reduce((count, text) => count + countIn(text, message), 0);
  return countIn(request.bodyText, JSON.stringify(message).slice(1, -1)) - quoted;
}

function countIn(text: string, part: string): number {
  return text.split(part).length - 1;
}

function preview(message: string): string {
  return JSON.stringify(message.length > 60 ? `${message.slice(0, 60)}…` : message);
}

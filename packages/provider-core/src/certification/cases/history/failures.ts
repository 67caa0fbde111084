import assert from 'node:assert/strict';
import type { HistorySubject } from '../../history-subject.js';
import { scripted } from '../../scripted-model/scripted-step.js';
import type { FailureName, HandleJson } from '../../subject.js';
import { CODEWORD, QUESTION } from './check-history.js';

/** What each failure must be: its kind, and the reason where the kind has several. */
const expected: Readonly<Record<FailureName, string>> = {
  rate_limited: 'rate_limited',
  auth_required: 'auth_required',
  overloaded: 'provider_failed overloaded',
  context_too_long: 'provider_failed context_too_long',
  model_not_found: 'provider_failed model_not_found',
  refusal: 'provider_failed refusal',
  broken_stream: 'provider_failed broken_stream',
  history_rejected: 'history_rejected',
  unknown: 'provider_failed unknown',
  empty_answer: 'provider_failed unknown',
};

/** CertApiFailures: each failure has its type, is asked for once, and neither an error nor an empty text is an answer. */
export async function apiFailures(subject: HistorySubject): Promise<void> {
  const { handle } = await subject.start(CODEWORD);
  const names = Object.keys(expected).filter((name): name is FailureName => name in expected);
  const seen: Record<string, string> = {};
  for (const name of names) seen[name] = await failOnce(subject, handle, name);
  assert.deepEqual(seen, expected);
  const { answer } = await subject.continue(handle, QUESTION);
  assert.match(answer, /heron/, 'the session goes on after every failure');
}

interface SeenFailure {
  readonly kind?: string;
  readonly reason?: string;
  readonly resetAt?: string;
  readonly message?: string;
}

async function failOnce(
  subject: HistorySubject,
  handle: HandleJson,
  name: FailureName,
): Promise<string> {
  const before = subject.modelRequests().length;
  const message = scripted(`Fail this once (${name}).`, subject.failure(name));
  const seen: SeenFailure = await subject.continue(handle, message).then(
    ({ answer }) => ({ kind: `completed with ${JSON.stringify(answer)}` }),
    (error: SeenFailure) => error,
  );
  const requests = subject.modelRequests().length - before;
  const told = [seen.kind, seen.reason].filter((part) => part !== undefined).join(' ');
  if (requests !== 1) return `${requests} requests, ${told}: ${seen.message}`;
  if (name === 'rate_limited' && !seen.resetAt) return 'no reset time';
  return told;
}

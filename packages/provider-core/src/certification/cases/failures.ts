import assert from 'node:assert/strict';
import { scripted } from '../scripted-model/scripted-step.js';
import type { CertificationSubject, FailureName, HandleJson } from '../subject.js';

/** What each failure must be: its kind, and the reason where the kind has several; any failure where none is named. */
const expected: Readonly<Record<FailureName, readonly [string?, string?]>> = {
  rate_limited: ['rate_limited'],
  auth_required: ['auth_required'],
  overloaded: ['provider_failed', 'overloaded'],
  context_too_long: ['provider_failed', 'context_too_long'],
  model_not_found: ['provider_failed', 'model_not_found'],
  refusal: ['provider_failed', 'refusal'],
  broken_stream: ['provider_failed', 'broken_stream'],
  history_rejected: ['history_rejected'],
  unknown: ['provider_failed', 'unknown'],
  empty_answer: [],
};

const COMPLETED = 'completed';

/** CertFailures: each failure of the model has its type, and neither an empty nor an error text is ever an answer. */
export async function failuresAreTyped(subject: CertificationSubject): Promise<void> {
  const config = await subject.stopRetries();
  const { handle } = await subject.start('Remember the codeword heron.', { config });
  const wrong: string[] = [];
  for (const name of failureNames) {
    const seen = await failOnce(subject, handle, name);
    const [kind, reason] = expected[name];
    const isRight =
      seen.kind !== COMPLETED &&
      (kind === undefined || seen.kind === kind) &&
      (reason === undefined || seen.reason === reason);
    if (!isRight) {
      wrong.push(`${name} was ${seen.kind} (${seen.reason ?? 'no reason'}): ${seen.message}`);
    }
    if (name === 'rate_limited' && seen.resetAt === undefined)
      wrong.push(`${name} has no reset: ${seen.message}`);
  }
  assert.deepEqual(wrong, [], 'failures of another type');
}

const failureNames: readonly FailureName[] = [
  'rate_limited',
  'auth_required',
  'overloaded',
  'context_too_long',
  'model_not_found',
  'refusal',
  'broken_stream',
  'history_rejected',
  'unknown',
  'empty_answer',
];

interface SeenFailure {
  readonly kind?: string;
  readonly reason?: string;
  readonly resetAt?: string;
  readonly message?: string;
}

async function failOnce(
  subject: CertificationSubject,
  handle: HandleJson,
  name: FailureName,
): Promise<SeenFailure> {
  const message = scripted(`Fail this once (${name}).`, subject.failure(name));
  return subject.continue(handle, message).then(
    ({ answer }) => ({ kind: COMPLETED, message: answer }),
    (error: SeenFailure) => error,
  );
}

import { errorFromJson, isContinuationError, isTurnError } from '@holdfast/agent';
import { CodingThreadError, isCodingThreadError, type RetryClass } from '../coding-thread-error.js';
import { findCodingThreadError } from './worker-error.wire.js';
import type { WorkerError } from './worker-spec.js';

/** What of an agent's errors the workflow may do next, where they came before the claim; the rest is to be looked into. */
const RETRY: ReadonlyMap<string, RetryClass> = new Map([
  ['session_busy', 'same'],
  ['cli_unusable', 'same'],
  ['auth_required', 'same'],
  ['rate_limited', 'same'],
  ['timed_out', 'same'],
  ['state_unusable', 'same'],
  ['turn_interrupted', 'same'],
  ['stale_handle', 'replace'],
  ['non_continuable', 'replace'],
  ['native_history_missing', 'replace'],
  ['history_rejected', 'replace'],
  ['non_applicable', 'never'],
  ['undeliverable_message', 'never'],
]);

/** Any error as JSON, on its way out of a worker. The stack and the causes stay behind. */
export function describeWorkerError(error: unknown): WorkerError {
  if (isCodingThreadError(error)) {
    const { kind, message, retry } = error;
    return { kind, family: 'coding_thread', message, retry, json: toJson(error) };
  }
  if (isTurnError(error) || isContinuationError(error)) {
    const { kind, message } = error;
    const retry = RETRY.get(kind) ?? 'inspect';
    return { kind, family: 'agent', message, retry, json: toJson(error) };
  }
  const { name, message } =
    error instanceof Error ? error : { name: 'unknown', message: `${error}` };
  return { kind: 'defect', family: 'defect', message, retry: 'inspect', json: { name, message } };
}

/** The typed error that a worker ended with. What is none of ours becomes `execution_unknown`. */
export function restoreWorkerError(described: WorkerError): Error {
  const { family, json, message, kind } = described;
  const restored = family === 'agent' ? errorFromJson(json) : findCodingThreadError(json);
  if (restored) return restored;
  return new CodingThreadError(
    'execution_unknown',
    `The worker failed in a way that is not known here: ${message}`,
    { evidence: { family, kind } },
  );
}

function toJson(error: { readonly toJSON: () => unknown }): WorkerError['json'] {
  return JSON.parse(JSON.stringify(error.toJSON()));
}

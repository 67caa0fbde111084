import type { JsonValue } from '../../persistence/store.js';
import type { WorkerError } from '../worker/worker-spec.js';

/** An error without the values that the worker was given by the names of their variables. */
export function redactError(error: WorkerError, secrets: readonly string[]): WorkerError {
  // Longest first, so that a secret inside another one leaves nothing of the longer behind.
  const longestFirst = secrets
    .filter((secret) => secret !== '')
    .toSorted((one, other) => other.length - one.length);
  const message = redactText(error.message, longestFirst);
  return { ...error, message, json: redactJson(error.json, longestFirst) };
}

function redactJson(value: JsonValue, secrets: readonly string[]): JsonValue {
  if (typeof value === 'string') return redactText(value, secrets);
  if (isList(value)) return value.map((item) => redactJson(item, secrets));
  if (typeof value !== 'object' || value === null) return value;
  const fields = Object.entries(value).flatMap(([name, field]) =>
    field === undefined ? [] : [[name, redactJson(field, secrets)] as const],
  );
  return Object.fromEntries(fields);
}

function redactText(text: string, secrets: readonly string[]): string {
  return secrets.reduce((redacted, secret) => redacted.replaceAll(secret, '[redacted]'), text);
}

/** `Array.isArray` does not tell a read-only list from the rest. */
function isList(value: JsonValue): value is readonly JsonValue[] {
  return Array.isArray(value);
}

import { StateUnusableError } from '@holdfast/agent';
import { keys } from '../../persistence/keys.js';
import type { JsonValue, Store } from '../../persistence/store.js';
import type { Sha256 } from '../coding-job.js';
import { digestOfJson } from '../contract/canonical-json.js';

/** What a stage keeps whole beside its record: itself, and each job's input. */
export type StageArtifactKind = 'stage' | 'job';

/** Stores a value at its digest, so that a record need only name it. */
export async function storeStageArtifact(
  store: Store,
  kind: StageArtifactKind,
  value: JsonValue,
): Promise<Sha256> {
  const digest = digestOfJson(value);
  await store.write(keys.threadArtifact(digest), { schemaVersion: 1, kind, value });
  return digest;
}

/** A stored value, proven by its digest; one that is gone or was changed is a `StateUnusableError`. */
export async function getStageArtifact(store: Store, digest: Sha256): Promise<JsonValue> {
  const key = keys.threadArtifact(digest);
  const found = await store.read(key);
  const value = found.state === 'present' ? findValue(found.value) : undefined;
  if (value !== undefined && digestOfJson(value) === digest) return value;
  throw new StateUnusableError(
    key.join('/'),
    'unreadable',
    'the artifact is not there, or is not what its name says.',
  );
}

function findValue(record: unknown): JsonValue | undefined {
  const isHolder = (one: unknown): one is { readonly value: JsonValue } =>
    typeof one === 'object' && one !== null && 'value' in one;
  return isHolder(record) ? record.value : undefined;
}

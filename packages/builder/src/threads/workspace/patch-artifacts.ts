import { StateUnusableError } from '@holdfast/agent';
import { keys } from '../../persistence/keys.js';
import type { Store } from '../../persistence/store.js';
import type { Sha256 } from '../coding-job.js';
import { digestPatch } from './patch-text.js';

/** Stores a patch at its digest, once; two that store the same patch do not disturb each other. */
export async function storePatch(store: Store, patch: string): Promise<Sha256> {
  const digest = digestPatch(patch);
  if ((await findPatch(store, digest)) !== undefined) return digest;
  await store.write(keys.threadArtifact(digest), { schemaVersion: 1, kind: 'patch', patch });
  return digest;
}

/** A stored patch, proven by its digest; one that is damaged, edited or another is a `StateUnusableError`. */
export async function getPatch(store: Store, digest: Sha256): Promise<string> {
  const patch = await findPatch(store, digest);
  if (patch !== undefined) return patch;
  throw unusable(digest, 'the patch is not there, or is not what its name says.');
}

/** A patch that is no more what its name says is as good as none: storing it anew mends it. */
async function findPatch(store: Store, digest: Sha256): Promise<string | undefined> {
  const found = await store.read(keys.threadArtifact(digest));
  const record = found.state === 'present' ? found.value : undefined;
  if (typeof record !== 'object' || record === null || !('patch' in record)) return undefined;
  const { patch } = record;
  return typeof patch === 'string' && digestPatch(patch) === digest ? patch : undefined;
}

function unusable(digest: Sha256, why: string): StateUnusableError {
  return new StateUnusableError(keys.threadArtifact(digest).join('/'), 'unreadable', why);
}

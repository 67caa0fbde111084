import { readExecutionId } from '../executions/execution-key.js';
import type { SessionOwner } from '../executions/execution-owner.js';
import type { Executions } from '../executions/executions.js';
import { keys } from '../persistence/keys.js';
import type { Store, StoreKey } from '../persistence/store.js';

interface FenceOptions {
  readonly store: Store;
  readonly executions: Executions;
}

/** Deeper than anybody nests; an owner that is its own ancestor must not make this endless. */
const MAX_DEPTH = 50;

/**
 * The id of the stopped execution that forbids this session to begin anything: its own, or one that owns it; or the run
 * of one of them. `undefined` when nothing forbids it.
 */
export async function findFence(
  caller: SessionOwner,
  { store, executions }: FenceOptions,
): Promise<string | undefined> {
  let owner: SessionOwner | undefined = caller;
  for (let depth = 0; owner?.kind === 'execution' && depth < MAX_DEPTH; depth += 1) {
    const { executionId } = owner;
    const key = readExecutionId(executionId);
    const fences = [keys.stop(key), keys.runStop(key)];
    for (const fence of fences) if (await isThere(store, fence)) return executionId;
    const state = await executions.get(executionId);
    if (state.outcome === 'stopped') return executionId;
    owner = state.owner;
  }
  return undefined;
}

/** A fence that cannot be read is one too. */
async function isThere(store: Store, fence: StoreKey): Promise<boolean> {
  return (await store.read(fence)).state !== 'absent';
}

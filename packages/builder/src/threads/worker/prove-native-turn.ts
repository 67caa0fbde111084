import { join } from 'node:path';
import { inspectAgentTurn, nativeIdOf } from '@holdfast/agent';
import type { TurnInDoubt, TurnProof } from '../store/recover-thread.js';
import { findAdapterState } from './adapter-state.wire.js';

/** Where the thread of the turn stands, and who is asked about it; a test asks its own. */
export interface NativeTurnPlace {
  /** The thread's own folder, as {@link threadRootOf} names it. */
  readonly root: string;
  readonly inspect?: typeof inspectAgentTurn | undefined;
}

/**
 * What our journal and the provider's own record prove of a claimed turn, read-only. `none` only where the message was surely
 * not taken in and nothing that is left could still bring it; `unknown` wherever that cannot be told.
 */
export async function proveNativeTurn(
  { nativeId, turnId, adapterState }: TurnInDoubt,
  { root, inspect = inspectAgentTurn }: NativeTurnPlace,
): Promise<TurnProof> {
  const kept = findAdapterState(adapterState);
  if (!kept || turnId === undefined || nativeIdOf(kept.handle) !== nativeId) {
    return { turn: 'unknown', evidence: { why: 'nothing is kept that would find the turn' } };
  }
  const { turn, ...seen } = await inspect(kept.handle, turnId, { stateDir: join(root, 'state') });
  return { turn, evidence: { turnId, ...seen } };
}

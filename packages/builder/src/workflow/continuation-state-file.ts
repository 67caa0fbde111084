import type { Lease } from '@holdfast/agent';
import type { ExecutionKey } from '../executions/execution-key.js';
import { keys } from '../persistence/keys.js';
import type { Store } from '../persistence/store.js';
import type { ContinuationState } from './continuation-state.js';
import { decodeContinuationState, encodeContinuationState } from './continuation-state.wire.js';

/** What stands in an execution's state file. */
export type ContinuationStateRead =
  | { readonly state: 'present'; readonly value: ContinuationState }
  | { readonly state: 'absent' }
  /**
   * It can't be used; the file has another name now, and nothing of it was overwritten. What is no JSON or too large is
   * damaged. It stays so until a state is written anew.
   */
  | {
      readonly state: 'set_aside';
      readonly reason: 'damaged' | 'newer_schema';
      readonly movedTo: string;
    };

/**
 * Reads the state of one execution. A damaged file and one of a newer schema are set aside under another name; the data
 * directory's own format keeps builders apart that would write different schemas side by side.
 */
export async function readContinuationState(
  store: Store,
  key: ExecutionKey,
): Promise<ContinuationStateRead> {
  const place = keys.state(key);
  const read = await store.read(place);
  if (read.state === 'absent') return read;
  if (read.state === 'damaged') {
    return { state: 'set_aside', reason: 'damaged', movedTo: read.movedTo };
  }
  const decoded = decodeContinuationState(read.value, key);
  if (decoded.state) return { state: 'present', value: decoded.state };
  return { state: 'set_aside', reason: decoded.unusable, movedTo: await store.setAside(place) };
}

/** Replaces the state in one step, while `lease` is the newest of the execution; otherwise `session_busy`. */
export async function writeContinuationState(
  store: Store,
  key: ExecutionKey,
  state: ContinuationState,
  lease: Lease,
): Promise<void> {
  await store.write(keys.state(key), encodeContinuationState(state), { lease });
}

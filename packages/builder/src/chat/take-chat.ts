import { type Lease, SessionBusyError, waitUntil } from '@holdfast/agent';
import { keys } from '../persistence/keys.js';
import type { Store } from '../persistence/store.js';

/** How long a busy chat is waited for. */
const BUSY_MS = 10 * 60_000;

interface TakeOptions {
  /** `fail` with `session_busy` when absent, or `wait` for the other owner. */
  readonly whenBusy?: 'fail' | 'wait' | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** The chat's lane: the right to write its log and to run its turns, across processes. A living owner is `session_busy`, or waited for. */
export async function takeChat(
  store: Store,
  chatId: string,
  { whenBusy = 'fail', signal }: TakeOptions = {},
): Promise<Lease> {
  const key = keys.chatLease(chatId);
  const taken = await store.acquire(key, { signal });
  if (taken.lease) return taken.lease;
  if (whenBusy === 'fail') throw new SessionBusyError({ kind: 'ours', ...taken.heldBy });
  return waitUntil(async () => (await store.acquire(key, { signal })).lease, {
    awaiting: `the other owner of chat ${chatId}`,
    deadlineMs: BUSY_MS,
    signal,
    layer: 'builder',
  });
}

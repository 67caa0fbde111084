import {
  acquireLease,
  type Lease,
  noSignIsEnough,
  SessionBusyError,
  waitUntil,
} from '@holdfast/agent';
import type { BuilderLayout } from '../persistence/layout.js';

/** How long a busy chat is waited for. */
const BUSY_MS = 10 * 60_000;

interface TakeOptions {
  /** `fail` with `session_busy` when absent, or `wait` for the other owner. */
  readonly whenBusy?: 'fail' | 'wait' | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** The right to write a chat's log, across processes. A living owner is `session_busy`, or waited for. */
export async function takeChat(
  layout: BuilderLayout,
  chatId: string,
  { whenBusy = 'fail', signal }: TakeOptions = {},
): Promise<Lease> {
  const dir = layout.chatLease(chatId);
  const taken = await acquireLease({ dir, signal, foreignIsFree: noSignIsEnough });
  if (taken.lease) return taken.lease;
  if (whenBusy === 'fail') {
    const { pid, hostId, since } = taken.heldBy;
    throw new SessionBusyError({ kind: 'ours', pid, hostId, since });
  }
  return waitUntil(
    async () => (await acquireLease({ dir, signal, foreignIsFree: noSignIsEnough })).lease,
    {
      awaiting: `the other owner of chat ${chatId}`,
      deadlineMs: BUSY_MS,
      signal,
      layer: 'builder',
    },
  );
}

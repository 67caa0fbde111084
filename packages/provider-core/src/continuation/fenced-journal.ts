import { SessionBusyError } from '../errors/turn-error.js';
import { openTurnJournal, type TurnJournal } from '../state/turn-journal.js';
import type { LeaseFence } from '../transports/session-transport.js';

/** Opens a turn's journal for the lease's owner. One that has lost the lease and thaws writes nothing more. */
export async function openFencedJournal(path: string, fence: LeaseFence): Promise<TurnJournal> {
  const { entries, append } = await openTurnJournal(path);
  return {
    entries,
    append: async (entry, options) => {
      refuseFenced(fence);
      await append(entry, options);
    },
  };
}

/** Throws `session_busy` where another owner has taken the lease. */
export function refuseFenced(fence: LeaseFence | undefined): void {
  if (fence && !fence.isCurrent()) throw new SessionBusyError({ kind: 'ours' });
}

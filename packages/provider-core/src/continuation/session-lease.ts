import { SessionBusyError } from '../errors/turn-error.js';
import { acquireLease, type Lease } from '../state/lease.js';
import { leaseDir } from '../state/state-layout.js';
import { waitUntil } from '../time/wait-until.js';
import type { Session } from './session.js';
import type { ResolvedTurnOptions } from './turn-options.js';

/** Takes the session's lease, or throws `session_busy` with its owner; waits for it when asked to. */
export async function takeSessionLease(
  session: Session,
  options: ResolvedTurnOptions,
  signal: AbortSignal,
): Promise<Lease> {
  const dir = leaseDir(session.record.cliHome, session.nativeSessionId);
  const context = session.context();
  return takeLease(dir, options, signal, async () => {
    const owner = await session.transport.findForeignOwner(context);
    const observed = await session.observe();
    const isQuiet =
      observed.state === 'gone' || (observed.state === 'alive' && observed.activity === 'idle');
    return owner === undefined && isQuiet;
  });
}

/** Takes the lease in `dir` by the caller's policy for a busy one. */
export async function takeLease(
  dir: string,
  { whenBusy, limits, clock }: ResolvedTurnOptions,
  signal: AbortSignal,
  foreignIsFree?: () => Promise<boolean>,
): Promise<Lease> {
  // A turn that was interrupted before it began still takes a free lease: its outcome is journaled.
  const limit = signal.aborted ? undefined : signal;
  const tryOnce = () =>
    acquireLease({ dir, clock, signal: limit, ...(foreignIsFree ? { foreignIsFree } : {}) });
  const first = await tryOnce();
  if (first.lease) return first.lease;
  if (whenBusy === 'fail') {
    const { pid, hostId, since } = first.heldBy;
    throw new SessionBusyError({ kind: 'ours', pid, hostId, since });
  }
  return waitUntil(async () => (await tryOnce()).lease, {
    awaiting: 'another owner to release the session',
    deadlineMs: limits.busyMs,
    intervalMs: 50,
    signal,
    clock,
  });
}

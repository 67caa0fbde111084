import {
  acquireLease,
  type Clock,
  type LeaseOwnerRecord,
  noSignIsEnough,
  readLeaseOwner,
} from '@holdfast/agent';
import type { StoreLease, StoreLeaseState } from './store.js';
import type { LeaseOwner } from './store-lease.js';

interface TakeOptions {
  readonly signal?: AbortSignal | undefined;
  readonly clock?: Clock | undefined;
}

/** Takes the lease whose generations stand in a folder. */
export async function takeFileLease(dir: string, options: TakeOptions): Promise<StoreLease> {
  const taken = await acquireLease({ ...options, dir, foreignIsFree: noSignIsEnough });
  return taken.lease ? taken : { heldBy: ownerOf(taken.heldBy) };
}

/** Looks who holds it. */
export async function observeFileLease(dir: string): Promise<StoreLeaseState> {
  const found = await readLeaseOwner(dir);
  if (found.state === 'free') return { state: 'free' };
  return { state: found.state, owner: found.owner && ownerOf(found.owner) };
}

function ownerOf({ pid, hostId, since }: LeaseOwnerRecord): LeaseOwner {
  return { pid, hostId, since };
}

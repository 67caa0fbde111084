import { type Clock, isoInstant, systemClock } from '../time/clock.js';
import { startTicker } from '../time/ticker.js';
import {
  type Generation,
  type LeaseOwnerRecord,
  readGeneration,
  readGenerationNow,
  readGenerationOwner,
  readHeartbeat,
  releaseGeneration,
  takeGeneration,
  writeHeartbeat,
} from './lease-folder.js';
import { observeProcess, ownIdentity, type ProcessIdentity } from './process-identity.js';
import { isStateUnusable } from './state-error.js';

export type { LeaseOwnerRecord } from './lease-folder.js';

/** The right to write, until released or until another owner took it over. */
export interface Lease extends AsyncDisposable {
  /** Grows with every owner: the fencing token. */
  readonly token: number;
  /** False as soon as a newer generation stands in the folder. Asks the disk each time. */
  readonly isCurrent: () => boolean;
  readonly release: () => Promise<void>;
}

/** Which lease, and how an owner that cannot be seen is judged. */
export interface AcquireLeaseOptions {
  readonly dir: string;
  /** Whether the provider's own liveness says free too; without it an owner that cannot be seen keeps the lease. */
  readonly foreignIsFree?: (() => Promise<boolean>) | undefined;
  /** How long an unseen owner's sign of life must stand still, on our monotonic clock; 15 s when absent. */
  readonly staleAfterMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly clock?: Clock | undefined;
  /** Who we are; a test plays another machine. */
  readonly identity?: ProcessIdentity | undefined;
}

/** A lease, or who holds it; an owner whose record is lost is told as pid 0. */
export type AcquiredLease =
  | { readonly lease: Lease; readonly heldBy?: undefined }
  | { readonly lease?: undefined; readonly heldBy: LeaseOwnerRecord };

const HEARTBEAT_MS = 3_000;
const STALE_AFTER_MS = 15_000;
const STALE_POLL_MS = 200;

/**
 * For `foreignIsFree` where a lease guards files alone and no provider could be asked: an owner in another container
 * that gives no sign of life is gone.
 */
export const noSignIsEnough = async (): Promise<boolean> => true;

/** Takes the lease when it is free or its owner is proven dead. Does not wait for a living owner. */
export async function acquireLease(options: AcquireLeaseOptions): Promise<AcquiredLease> {
  const { dir, clock = systemClock, identity = ownIdentity() } = options;
  for (;;) {
    options.signal?.throwIfAborted();
    const generation = await readGeneration(dir);
    const holder = await findHolder(generation, options);
    // Our listing was so old that its newest generation has been cleared away since.
    if (holder === 'pruned') continue;
    if (holder) return { heldBy: holder };
    const token = generation.number + 1;
    if (!(await takeGeneration(dir, token, { ...identity, since: isoInstant(clock) }))) continue;
    // Listed again: our first listing may have been an old one, and then we give way.
    if ((await readGeneration(dir)).number === token) return { lease: createLease(dir, token) };
  }
}

async function findHolder(
  { number, isReleased }: Generation,
  options: AcquireLeaseOptions,
): Promise<LeaseOwnerRecord | 'pruned' | undefined> {
  if (isReleased) return undefined;
  const owner = await readGenerationOwner(options.dir, number);
  if (owner === 'pruned') return owner;
  const state = owner === 'lost' ? 'unknown' : observeProcess(owner, options.identity);
  if (state === 'dead') return undefined;
  if (state === 'unknown' && (await isStale(number, options))) return undefined;
  return owner === 'lost' ? LOST_OWNER : owner;
}

const LOST_OWNER: LeaseOwnerRecord = {
  pid: 0,
  hostId: '',
  bootId: '',
  pidNamespace: '',
  startTime: '',
  since: '',
};

/** An owner that cannot be seen is gone when it gives no sign for long and the provider says free as well. */
async function isStale(number: number, options: AcquireLeaseOptions): Promise<boolean> {
  const { dir, foreignIsFree, clock = systemClock, staleAfterMs = STALE_AFTER_MS } = options;
  if (!foreignIsFree || !(await foreignIsFree())) return false;
  const first = await readHeartbeat(dir, number);
  const end = clock.monotonicMs() + staleAfterMs;
  while (clock.monotonicMs() < end) {
    await clock.sleep(STALE_POLL_MS, options.signal);
    if ((await readHeartbeat(dir, number)) !== first) return false;
    const now = await readGeneration(dir);
    // Given back or taken meanwhile: the caller's loop looks anew.
    if (now.number !== number || now.isReleased) return true;
  }
  return foreignIsFree();
}

function createLease(dir: string, token: number): Lease {
  let released: Promise<void> | undefined;
  let beat = 0;
  const ticker = startTicker(HEARTBEAT_MS, () => {
    beat += 1;
    // A beat that cannot be written costs the lease at worst, which isCurrent tells.
    writeHeartbeat(dir, token, beat).catch(() => {});
  });
  const release = () => {
    ticker[Symbol.dispose]();
    released ??= releaseGeneration(dir, token).catch((error: unknown) => {
      releaseLater(dir, token);
      throw error;
    });
    return released;
  };
  return {
    token,
    isCurrent: () => released === undefined && isNewest(dir, token),
    release,
    [Symbol.asyncDispose]: async () => {
      // It is let go of as soon as that can be written; what was done under it ends as it ended.
      await release().catch((error: unknown) => {
        if (!isStateUnusable(error)) throw error;
      });
    },
  };
}

const RELEASE_RETRY_MS = 1_000;

/** A full disk must not leave a lease with a living process that has no use for it. */
function releaseLater(dir: string, token: number): void {
  const ticker = startTicker(RELEASE_RETRY_MS, () => {
    releaseGeneration(dir, token).then(
      () => ticker[Symbol.dispose](),
      () => {},
    );
  });
}

function isNewest(dir: string, token: number): boolean {
  try {
    return readGenerationNow(dir).number === token;
  } catch {
    // A folder that cannot be listed proves nothing, and without proof nothing is written.
    return false;
  }
}

/** Who holds a lease, as far as can be seen from here. */
export type LeaseObservation =
  | { readonly state: 'free' }
  | { readonly state: 'held'; readonly owner: LeaseOwnerRecord }
  | { readonly state: 'unknown'; readonly owner?: LeaseOwnerRecord | undefined };

/** Looks who holds the lease. Read-only: makes no folder and takes nothing over. */
export async function readLeaseOwner(
  dir: string,
  identity: ProcessIdentity = ownIdentity(),
): Promise<LeaseObservation> {
  try {
    const { number, isReleased } = await readGeneration(dir);
    if (isReleased) return { state: 'free' };
    const owner = await readGenerationOwner(dir, number);
    if (owner === 'lost' || owner === 'pruned') return { state: 'unknown' };
    const state = observeProcess(owner, identity);
    if (state === 'dead') return { state: 'free' };
    return state === 'alive' ? { state: 'held', owner } : { state: 'unknown', owner };
  } catch (error) {
    if (isStateUnusable(error)) return { state: 'unknown' };
    throw error;
  }
}

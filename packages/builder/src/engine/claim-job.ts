import { hostname } from 'node:os';
import type { Lease, LeaseOwner } from '../persistence/store-lease.js';
import type { JobEntry } from './job-entry.js';
import { instantOf, type JobRecord } from './job-record.js';
import { readJob, readNote, takeJobAway, writeJob } from './job-store.js';
import type { QueueContext } from './queue-context.js';
import { parkExhausted } from './record-after.js';

/** A job that is ours to run; its attempt is on disk. */
export interface BegunJob {
  readonly record: JobRecord;
  readonly lease: Lease;
}

/** What came of trying to begin a job. */
export type Claim =
  | ({ readonly state: 'begun' } & BegunJob)
  /** A living owner has it, or, `unseen`, one of which nobody here can say whether it lives. */
  | { readonly state: 'held' | 'unseen' }
  /** It was done or taken away meanwhile. */
  | { readonly state: 'gone' }
  | { readonly state: 'damaged' | 'newer'; readonly detail: string }
  /** It is parked, or to be begun later. */
  | { readonly state: 'put_off'; readonly record: JobRecord };

/** Begins a job where nobody else has it and it still waits: that is read again under its lease. */
export async function claimJob(context: QueueContext, entry: JobEntry): Promise<Claim> {
  const { store, keys } = context;
  const key = keys.lease(entry.id);
  const seen = await store.observe(key);
  if (seen.state === 'unknown') return { state: 'unseen' };
  if (seen.state === 'held') return { state: 'held' };
  const { lease } = await store.acquire(key, { signal: context.stopping });
  if (!lease) return { state: 'held' };
  let claim: Claim = { state: 'gone' };
  try {
    claim = await beginJob(context, entry, lease);
    return claim;
  } finally {
    if (claim.state !== 'begun') await lease.release();
  }
}

async function beginJob(context: QueueContext, entry: JobEntry, lease: Lease): Promise<Claim> {
  const found = await readJob(context, entry.id);
  if (found.state === 'absent') return { state: 'gone' };
  if (found.state !== 'present') return found;
  const { record } = found;
  const { isCancelled, isWoken } = await readNotes(context, record);
  if (isCancelled) {
    await takeJobAway(context, record, lease);
    return { state: 'gone' };
  }
  entry.learn(record, context.clock);
  entry.isWoken = isWoken;
  entry.isCancelled = false;
  if (!entry.isDue(context.clock)) return { state: 'put_off', record };
  if (!isWoken && record.attempt >= context.maxAttempts) {
    const parked = parkExhausted(record);
    await writeJob(context, parked, lease);
    return { state: 'put_off', record: parked };
  }
  return { state: 'begun', lease, record: await countAttempt(context, record, isWoken, lease) };
}

async function readNotes(context: QueueContext, { order }: JobRecord) {
  const { keys } = context;
  const [cancel, wake] = await Promise.all([
    readNote(context, keys.cancel(order)),
    readNote(context, keys.wake(order)),
  ]);
  return { isCancelled: cancel !== undefined, isWoken: wake !== undefined };
}

/** On disk before the handler is called, so that a job which kills its process is not begun for ever. */
async function countAttempt(
  context: QueueContext,
  record: JobRecord,
  isWoken: boolean,
  lease: Lease,
): Promise<JobRecord> {
  const begun: JobRecord = {
    ...record,
    state: 'waiting',
    attempt: isWoken ? 1 : record.attempt + 1,
    reason: undefined,
    notBefore: undefined,
    waitMs: undefined,
    owner: describeOwner(context),
  };
  await writeJob(context, begun, lease);
  // Only now: a wake that is lost before the attempt is written would be lost for good.
  if (isWoken) await context.store.remove(context.keys.wake(record.order));
  return begun;
}

function describeOwner({ clock }: QueueContext): LeaseOwner {
  return { pid: process.pid, hostId: hostname(), since: instantOf(clock.now()) };
}

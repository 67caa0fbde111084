import { randomBytes } from 'node:crypto';
import type { Clock } from '@holdfast/agent';
import type { JsonValue } from '../persistence/store.js';
import type { LeaseOwner } from '../persistence/store-lease.js';

/** A job as it stands on disk. Whoever holds its lease writes it; it is removed when the job is done. */
export interface JobRecord {
  readonly queue: string;
  readonly id: string;
  readonly payload: JsonValue;
  readonly enqueuedAt: string;
  /** Sorts by time, is never given twice, and may stand in a key. */
  readonly order: string;
  /** How often it was begun; written before the handler is called. */
  readonly attempt: number;
  readonly state: 'waiting' | 'parked';
  /** Why it waits or is parked. */
  readonly reason?: string | undefined;
  /** ISO 8601; not begun before. */
  readonly notBefore?: string | undefined;
  /** How long that was when it was written: a clock that was set back makes nobody wait longer. */
  readonly waitMs?: number | undefined;
  readonly lastError?: string | undefined;
  /** Who began it last, for people: the lease decides. */
  readonly owner?: LeaseOwner | undefined;
}

/** Gives new jobs their place in time. */
export interface JobOrders {
  readonly next: () => Pick<JobRecord, 'enqueuedAt' | 'order'>;
}

/** Orders grow within one process also while its clock stands or goes back. */
export function createJobOrders(clock: Clock): JobOrders {
  let last = 0;
  let sequence = 0;
  return {
    next: () => {
      last = Math.max(last, clock.now());
      sequence += 1;
      const enqueuedAt = instantOf(last);
      // A colon may not stand in a key.
      const instant = enqueuedAt.replaceAll(':', '-');
      const count = String(sequence).padStart(12, '0');
      return { enqueuedAt, order: `${instant}~${count}~${randomBytes(4).toString('hex')}` };
    },
  };
}

/** Milliseconds since 1970 as ISO 8601 in UTC. */
export function instantOf(ms: number): string {
  return new Date(ms).toISOString();
}

/** What sorts jobs as they are begun: by the instant they were enqueued, or may begin again. */
export function compareJobs(
  one: Pick<JobRecord, 'order' | 'notBefore'>,
  other: Pick<JobRecord, 'order' | 'notBefore'>,
): number {
  const [left, right] = [rankOf(one), rankOf(other)];
  if (left === right) return 0;
  return left < right ? -1 : 1;
}

function rankOf({ order, notBefore }: Pick<JobRecord, 'order' | 'notBefore'>): string {
  return notBefore === undefined ? order : `${notBefore.replaceAll(':', '-')}~${order}`;
}

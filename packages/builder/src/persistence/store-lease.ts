export type { Lease } from '@holdfast/agent';

/** Who holds a lease: for people and for state files, since only the store judges whether it lives. */
export interface LeaseOwner {
  readonly pid: number;
  readonly hostId: string;
  /** ISO 8601: since when that process has had it, again and again. Not when it took it last. */
  readonly since: string;
}

import { keys } from '../persistence/keys.js';
import type { StoreKey } from '../persistence/store.js';
import { checkKey } from '../persistence/store-key.js';

/** Where everything of one queue stands. */
export interface QueueKeys {
  readonly queue: string;
  /** One record a job that is not done: the open-work marker. */
  readonly jobs: StoreKey;
  /** One record a wake that no run has answered yet, by the job's order. */
  readonly wakes: StoreKey;
  /** One record a job that is to be taken away as soon as its owner lets go of it, by its order. */
  readonly cancels: StoreKey;
  readonly job: (id: string) => StoreKey;
  readonly lease: (id: string) => StoreKey;
  readonly wake: (order: string) => StoreKey;
  readonly cancel: (order: string) => StoreKey;
}

const RECORD = '.json';

/** The keys of a queue. A name the store cannot hold is a TypeError. */
export function queueKeys(queue: string): QueueKeys {
  const jobs = keys.jobs(queue);
  const root = jobs.slice(0, -1);
  const wakes = [...root, 'wakes'];
  const cancels = [...root, 'cancels'];
  return {
    queue,
    jobs,
    wakes,
    cancels,
    job: (id) => [...jobs, id + RECORD],
    lease: (id) => [...root, 'leases', id],
    wake: (order) => [...wakes, order + RECORD],
    cancel: (order) => [...cancels, order + RECORD],
  };
}

/** The ids or orders that a listing's names stand for. */
export function namesOf(listing: readonly string[]): readonly string[] {
  return listing
    .filter((name) => name.endsWith(RECORD))
    .map((name) => name.slice(0, -RECORD.length));
}

/** Throws a TypeError where an id can name no job, before anything of it is written. */
export function checkJobId({ job, lease }: QueueKeys, id: string): void {
  checkKey(job(id));
  checkKey(lease(id));
}

import type { Store } from '../../persistence/store.js';
import type { Lease } from '../../persistence/store-lease.js';

/** Thrown by whatever is asked of a store whose process is dead. */
export class Crash extends Error {}

/** A store as one process sees it: it dies right after its n-th write, and its leases are free then, as a dead owner's are. */
export function dieAfterWrite(store: Store, count: number): Store & { readonly isDead: () => boolean } {
  const leases: Lease[] = [];
  let left = count;
  let isDead = false;
  const checkAlive = () => {
    if (isDead) throw new Crash('the process is dead');
  };
  return {
    ...store,
    isDead: () => isDead,
    read: async (key) => {
      checkAlive();
      return store.read(key);
    },
    write: async (key, value, options) => {
      checkAlive();
      const written = await store.write(key, value, options);
      left -= 1;
      if (left > 0) return written;
      isDead = true;
      await Promise.all(leases.map((lease) => lease.release()));
      throw new Crash(`died after writing ${key.join('/')}`);
    },
    acquire: async (key, options) => {
      checkAlive();
      const taken = await store.acquire(key, options);
      if (taken.lease) leases.push(taken.lease);
      return taken;
    },
  };
}

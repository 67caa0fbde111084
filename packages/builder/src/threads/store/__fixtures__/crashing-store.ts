import type { Store } from '../../../persistence/store.js';

/** The process ends here, as far as the code above the store can tell. */
class Crash extends Error {}

/** A store whose process dies at its n-th write: before it, or after it was made. Counts its writes. */
export function crashingStore(
  store: Store,
  at: number,
  when: 'before' | 'after',
): Store & { readonly written: () => number } {
  let writes = 0;
  let isDead = false;
  return {
    ...store,
    written: () => writes,
    write: async (...args) => {
      if (isDead) throw new Crash();
      writes += 1;
      isDead = writes === at;
      if (isDead && when === 'before') throw new Crash();
      const isWritten = await store.write(...args);
      if (isDead) throw new Crash();
      return isWritten;
    },
  };
}

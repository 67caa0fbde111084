import { type Death, MemoryDisk, MemoryStore } from '../../../executions/__fixtures__/memory-store.js';
import type { Store } from '../../../persistence/store.js';

export { type Death, MemoryDisk };

const appended = new WeakMap<MemoryDisk, EventTarget>();

/** One process's store on a disk in memory whose logs can be followed. */
export class FollowedMemoryStore extends MemoryStore {
  readonly #told: EventTarget;

  constructor(disk: MemoryDisk, death?: Death) {
    super(disk, death);
    this.#told = appended.get(disk) ?? new EventTarget();
    appended.set(disk, this.#told);
    const { append, readLog } = this;
    const told = this.#told;
    const own: Pick<Store, 'append' | 'readLog'> = {
      append: async (...args) => {
        await append(...args);
        told.dispatchEvent(new Event('appended'));
      },
      readLog: async function* (key, { from = 0, follow } = {}) {
        for (let next = from; ; ) {
          const changed = follow && nextAppend(told, follow);
          for await (const entry of readLog(key, { from: next })) {
            next += 1;
            yield entry;
          }
          if (!follow || follow.aborted) return;
          await changed;
        }
      },
    };
    Object.assign(this, own);
  }
}

async function nextAppend(told: EventTarget, follow: AbortSignal): Promise<void> {
  await new Promise<void>((resolve) => {
    const done = () => resolve();
    told.addEventListener('appended', done, { once: true });
    follow.addEventListener('abort', done, { once: true });
    if (follow.aborted) done();
  });
}

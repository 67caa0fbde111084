import { StateUnusableError } from '@holdfast/agent';
import { keys } from './keys.js';
import type { Store } from './store.js';

/** The newest format of a data directory this version reads, and the one it writes. */
const DATA_FORMAT = 1;

/** Makes a store usable. A newer format is a `StateUnusableError`, and nothing in it is touched. */
export async function prepareStore(store: Store): Promise<void> {
  const path = keys.format().join('/');
  const found = await store.read(keys.format());
  if (found.state === 'absent') {
    await store.write(keys.format(), DATA_FORMAT);
    return;
  }
  if (found.state === 'damaged' || typeof found.value !== 'number') {
    throw new StateUnusableError(path, 'damaged', 'it holds no format number. Put 1 in it.');
  }
  if (found.value > DATA_FORMAT) {
    const detail = `format ${found.value} is newer than ${DATA_FORMAT}. Nothing was touched.`;
    throw new StateUnusableError(path, 'newer_format', detail);
  }
}

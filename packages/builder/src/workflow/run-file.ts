import { StateUnusableError } from '@holdfast/agent';
import { keys } from '../persistence/keys.js';
import type { Store } from '../persistence/store.js';
import type { RunKey, RunRecord } from './workflow-run.js';
import { decodeRunRecord, encodeRunRecord } from './workflow-run.wire.js';

/** The run's record; `undefined` when there is none. A damaged one is a `StateUnusableError`. */
export async function readRun(store: Store, run: RunKey): Promise<RunRecord | undefined> {
  const key = keys.run(run);
  const read = await store.read(key);
  if (read.state === 'absent') return undefined;
  if (read.state === 'damaged') {
    throw new StateUnusableError(read.movedTo, 'damaged', 'it is no JSON. Restore the run.');
  }
  return decodeRunRecord(read.value, key.join('/'));
}

/** Writes a run that is not there yet; `false` where one already stands. */
export async function createRun(store: Store, record: RunRecord): Promise<boolean> {
  return await store.write(keys.run(record), encodeRunRecord(record), { mode: 'create' });
}

/** Replaces the run's record. Only whoever drives the run. */
export async function writeRun(store: Store, record: RunRecord): Promise<void> {
  await store.write(keys.run(record), encodeRunRecord(record));
}

import { type Lease, waitUntil } from '@holdfast/agent';
import { keys } from '../persistence/keys.js';
import type { Store } from '../persistence/store.js';
import type { TerminalRecord } from './terminal-record.js';
import {
  decodeSnapshotText,
  decodeTerminalRecord,
  encodeSnapshotText,
  encodeTerminalRecord,
  type SnapshotText,
} from './terminal-record.wire.js';

/** How long another writer of a record may take; its own work is one small write. */
const WRITE_TURN_MS = 10_000;
const SUFFIX = '.json';

/** What is kept of an owner's terminals, if anything is. */
export async function findTerminalRecord(
  store: Store,
  ownerId: string,
): Promise<TerminalRecord | undefined> {
  const key = keys.terminalRecord(ownerId);
  const found = await store.read(key);
  return found.state === 'present' ? decodeTerminalRecord(found.value, key.join('/')) : undefined;
}

/** The names of all records, for {@link readTerminalRecord}. */
export async function listTerminalRecords(store: Store): Promise<readonly string[]> {
  return (await store.list(keys.terminals())).filter((name) => name.endsWith(SUFFIX));
}

/** The record of a name; `undefined` once it is gone. */
export async function readTerminalRecord(
  store: Store,
  name: string,
): Promise<TerminalRecord | undefined> {
  const key = [...keys.terminals(), name];
  const found = await store.read(key);
  return found.state === 'present' ? decodeTerminalRecord(found.value, key.join('/')) : undefined;
}

/** Changes the record of an owner; writers of all processes take turns. `undefined` takes it away. */
export async function updateTerminalRecord(
  store: Store,
  ownerId: string,
  change: (record: TerminalRecord | undefined) => TerminalRecord | undefined,
): Promise<void> {
  await using lease = await waitForWriteTurn(store, ownerId);
  const before = await findTerminalRecord(store, ownerId);
  const after = change(before);
  if (after === before) return;
  const key = keys.terminalRecord(ownerId);
  if (after) await store.write(key, encodeTerminalRecord(after), { lease });
  else await store.remove(key, { lease });
  for (const gone of before?.snapshots ?? []) {
    const isKept = after?.snapshots.some(({ terminalId }) => terminalId === gone.terminalId);
    if (!isKept) await store.remove(keys.terminalSnapshot(gone.terminalId));
  }
}

function waitForWriteTurn(store: Store, ownerId: string): Promise<Lease> {
  const key = keys.terminalLease(ownerId);
  return waitUntil(async () => (await store.acquire(key)).lease, {
    awaiting: 'another writer of what is kept of terminals',
    deadlineMs: WRITE_TURN_MS,
    layer: 'builder',
  });
}

/** Keeps what a terminal shows; an older text of it is replaced. */
export async function writeSnapshotText(store: Store, text: SnapshotText): Promise<void> {
  await store.write(keys.terminalSnapshot(text.terminalId), encodeSnapshotText(text));
}

/** What a terminal showed last, if it is kept still. */
export async function findSnapshotText(
  store: Store,
  terminalId: string,
): Promise<SnapshotText | undefined> {
  const found = await store.read(keys.terminalSnapshot(terminalId));
  return found.state === 'present' ? decodeSnapshotText(found.value) : undefined;
}

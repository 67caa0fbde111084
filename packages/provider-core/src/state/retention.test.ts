import { mkdir, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type Clock, systemClock } from '../time/clock.js';
import { type LaunchRecord, readLaunchRecord, saveLaunchRecord } from './launch-record.js';
import { acquireLease } from './lease.js';
import { removeExpiredRecords } from './retention.js';
import { readStartRecord, saveStartRecord } from './start-record.js';
import { leaseDir, type StateLayout, stateLayout } from './state-layout.js';
import { appendTurnEvent } from './turn-events.js';
import { openTurnJournal } from './turn-journal.js';

const at = '2026-01-01T00:00:00.000Z';
const provider = 'claude-code';

/** So many days after the records were written. */
function after(days: number): { clock: Clock } {
  const now = Date.parse(at) + days * 24 * 60 * 60 * 1000 + 1;
  return { clock: { ...systemClock, now: () => now } };
}

async function layoutWithSession(change: Partial<LaunchRecord> = {}): Promise<StateLayout> {
  const dir = await mkdtemp(join(tmpdir(), 'holdfast-'));
  onTestFinished(() => rm(dir, { recursive: true, force: true }));
  const layout = stateLayout(join(dir, 'state'));
  const cliHome = join(dir, 'home');
  await mkdir(cliHome);
  await saveLaunchRecord(layout, {
    schemaVersion: 1,
    provider,
    transport: 'tmux',
    nativeSessionId: 'n1',
    config: { workingDir: '/' },
    stableFields: {},
    cliVersion: '1',
    cliHome,
    nonce: 'x',
    acknowledged: true,
    revision: 1,
    status: 'closed',
    archived: false,
    createdAt: at,
    updatedAt: at,
    ...change,
  });
  await mkdir(layout.filesDir(provider, 'n1'));
  await writeFile(join(layout.filesDir(provider, 'n1'), 'settings.json'), 'secret');
  const journal = await openTurnJournal(layout.turnJournal(provider, 'n1', 't1'));
  const result = { answer: 'done', stopReason: 'end_turn' };
  await journal.append(
    { step: 'ended', at, outcome: { status: 'completed', result } },
    { sync: false },
  );
  const event = { type: 'running', turnId: 't1', sequence: 0, at } as const;
  await appendTurnEvent(layout.turnEvents(provider, 'n1', 't1'), event);
  return layout;
}

const isKept = async (layout: StateLayout) =>
  (await readLaunchRecord(layout, provider, 'n1')) !== undefined;

describe('removeExpiredRecords', () => {
  it('keeps everything until the days are over', async () => {
    const layout = await layoutWithSession();
    expect(await removeExpiredRecords(layout, after(29))).toBe(0);
    expect(await removeExpiredRecords(layout, { ...after(29), retentionDays: 31 })).toBe(0);
    expect(await isKept(layout)).toBe(true);
  });

  it('removes record, files, journals and events of a session that is long closed', async () => {
    const layout = await layoutWithSession();
    const folder = layout.sessionDir(provider, 'n1');
    await writeFile(join(folder, '.launch.json.0123.tmp'), 'left by a crash');
    expect(await removeExpiredRecords(layout, after(30))).toBe(1);
    expect(await readdir(folder)).toEqual(['turns']);
    expect(await isKept(layout)).toBe(false);
    await expect(stat(layout.filesDir(provider, 'n1'))).rejects.toMatchObject({ code: 'ENOENT' });
    expect(await readdir(layout.turnsDir(provider, 'n1'))).toEqual(['expired']);
    expect(await removeExpiredRecords(layout, after(30))).toBe(0);
  });

  it('makes a removed turn id an error, never a new turn', async () => {
    const layout = await layoutWithSession();
    await removeExpiredRecords(layout, after(30));
    const open = (turnId: string) => openTurnJournal(layout.turnJournal(provider, 'n1', turnId));
    await expect(open('t1')).rejects.toMatchObject({
      kind: 'state_unusable',
      reason: 'unreadable',
    });
    expect((await open('t2')).entries).toEqual([]);
  });

  it.each(['idle', 'lost'] as const)('removes a session that was left %s', async (status) => {
    const layout = await layoutWithSession({ status });
    expect(await removeExpiredRecords(layout, after(30))).toBe(1);
  });

  it('keeps what is active, unsettled, held or damaged', async () => {
    const active = await layoutWithSession({ status: 'active' });
    expect(await removeExpiredRecords(active, after(30))).toBe(0);

    const unsettled = await layoutWithSession({ status: 'lost' });
    const parked = await openTurnJournal(unsettled.turnJournal(provider, 'n1', 't9'));
    const cursor = { length: 0 };
    await parked.append({ step: 'submitting', attempt: 1, cursor, at }, { sync: false });
    expect(await removeExpiredRecords(unsettled, after(30))).toBe(0);

    const held = await layoutWithSession();
    const record = await readLaunchRecord(held, provider, 'n1');
    const { lease } = await acquireLease({ dir: leaseDir(record?.cliHome ?? '', 'n1') });
    expect(await removeExpiredRecords(held, after(30))).toBe(0);
    await lease?.release();

    const damaged = await layoutWithSession();
    await writeFile(damaged.launchRecord(provider, 'n1'), 'x');
    expect(await removeExpiredRecords(damaged, after(30))).toBe(0);
    expect(await readdir(damaged.filesDir(provider, 'n1'))).toEqual(['settings.json']);
  });

  it('removes a start with its session, and makes its id an error', async () => {
    const layout = await layoutWithSession();
    await saveStartRecord(layout, {
      turnId: 't1',
      messageDigest: 'd',
      provider,
      configDigest: 'c',
      nativeSessionId: 'n1',
      abandonedNativeIds: [],
      createdAt: at,
    });
    await saveLaunchRecord(layout, {
      ...(await readLaunchRecord(layout, provider, 'n1').then((found) => found ?? fail())),
      updatedAt: '2026-01-20T00:00:00.000Z',
    });
    expect(await removeExpiredRecords(layout, after(31))).toBe(0);
    expect(await readStartRecord(layout, 't1')).toBeDefined();
    expect(await removeExpiredRecords(layout, after(60))).toBe(2);
    await expect(readStartRecord(layout, 't1')).rejects.toMatchObject({ reason: 'unreadable' });
    expect(await readStartRecord(layout, 't2')).toBeUndefined();
  });
});

function fail(): never {
  throw new TypeError('the record is absent');
}

import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { readStartRecord, type StartRecord, saveStartRecord } from './start-record.js';
import { type StateLayout, stateLayout } from './state-layout.js';

const start: StartRecord = {
  turnId: 't1',
  messageDigest: 'd1',
  provider: 'codex-cli',
  configDigest: 'c1',
  nativeSessionId: 'n2',
  abandonedNativeIds: ['n1'],
  createdAt: '2026-01-01T00:00:00.000Z',
};

async function layoutOf(): Promise<StateLayout> {
  const dir = await mkdtemp(join(tmpdir(), 'holdfast-'));
  onTestFinished(() => rm(dir, { recursive: true, force: true }));
  return stateLayout(dir);
}

describe('start record', () => {
  it('comes back as it was saved, with and without a native id', async () => {
    const layout = await layoutOf();
    expect(await readStartRecord(layout, 't1')).toBeUndefined();
    const { nativeSessionId: _unknown, ...early } = start;
    await saveStartRecord(layout, early);
    expect(await readStartRecord(layout, 't1')).toEqual(early);
    await saveStartRecord(layout, start);
    expect(await readStartRecord(layout, 't1')).toEqual(start);
    expect(await readFile(layout.startFile('t1'), 'utf8')).toContain('"abandoned_native_ids"');
  });

  it.each(['', '{}', 'null'])('never takes a damaged one (%j) for a new turn', async (content) => {
    const layout = await layoutOf();
    await mkdir(layout.startsDir, { recursive: true });
    await writeFile(layout.startFile('t1'), content);
    const damage = { kind: 'state_unusable', reason: 'damaged' };
    await expect(readStartRecord(layout, 't1')).rejects.toMatchObject(damage);
    await expect(readStartRecord(layout, 't1')).rejects.toMatchObject(damage);
  });
});

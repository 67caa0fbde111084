import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { Clock } from '../time/clock.js';
import { waitUntil } from '../time/wait-until.js';
import { setFaultHook } from './fault-point.js';
import { acquireLease, type Lease, readLeaseOwner } from './lease.js';
import {
  type LeaseOwnerRecord,
  readHeartbeat,
  takeGeneration,
  writeHeartbeat,
} from './lease-folder.js';
import { ownIdentity, readProcessStartTime } from './process-identity.js';

const own = ownIdentity();
const foreign = { ...own, hostId: 'elsewhere', bootId: 'another-boot', pid: 17, startTime: '17' };

async function leaseFolder(): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'holdfast-'));
  onTestFinished(() => rm(dir, { recursive: true, force: true }));
  return join(dir, 'leases', 'session');
}

async function take(dir: string): Promise<Lease> {
  const { lease, heldBy } = await acquireLease({ dir });
  if (!lease) throw new TypeError(`held by ${heldBy.pid}`);
  onTestFinished(() => lease[Symbol.asyncDispose]());
  return lease;
}

function ownerRecord(change: Partial<LeaseOwnerRecord>): LeaseOwnerRecord {
  return { ...own, since: '2026-01-01T00:00:00.000Z', ...change };
}

/** Time passes only when somebody sleeps; `onSleep` is told how much has passed. */
function steppedClock(onSleep: (passedMs: number) => void | Promise<void> = () => {}): Clock {
  let passed = 0;
  return {
    now: () => 0,
    monotonicMs: () => passed,
    sleep: async (ms) => {
      passed += ms;
      await onSleep(passed);
    },
  };
}

describe('acquireLease', () => {
  it('B107: gives the lease to one and names the owner to the others', async () => {
    const dir = await leaseFolder();
    const lease = await take(dir);
    expect(lease.isCurrent()).toBe(true);
    expect(await acquireLease({ dir })).toMatchObject({
      heldBy: { pid: process.pid, startTime: own.startTime },
    });
  });

  it('never gives one key twice within a process', async () => {
    const dir = await leaseFolder();
    const all = await Promise.all(Array.from({ length: 50 }, () => acquireLease({ dir })));
    const taken = all.flatMap(({ lease }) => lease ?? []);
    onTestFinished(async () => void (await Promise.all(taken.map((lease) => lease.release()))));
    expect(taken).toHaveLength(1);
  });

  it('gives a higher token to each owner', async () => {
    const dir = await leaseFolder();
    const tokens: number[] = [];
    for (let round = 0; round < 5; round++) {
      await using lease = await take(dir);
      tokens.push(lease.token);
    }
    expect(tokens).toEqual([1, 2, 3, 4, 5]);
  });

  it('lets go as soon as that can be written, and hides no other error meanwhile', async () => {
    const dir = await leaseFolder();
    const lease = await take(dir);
    await rename(dir, `${dir}.away`);
    await writeFile(dir, 'no folder');
    const act = async () => {
      await using _lease = lease;
      throw new TypeError('the work failed');
    };
    await expect(act()).rejects.toThrow(new TypeError('the work failed'));
    await expect(lease.release()).rejects.toMatchObject({ kind: 'state_unusable' });
    await rm(dir);
    await rename(`${dir}.away`, dir);
    expect(lease.isCurrent()).toBe(false);
    await vi.waitFor(
      async () => expect(await readLeaseOwner(dir)).toEqual({ state: 'free' }),
      20_000,
    );
  });

  it('is not current any more once released, and releases once', async () => {
    const dir = await leaseFolder();
    const lease = await take(dir);
    await Promise.all([lease.release(), lease.release()]);
    expect(lease.isCurrent()).toBe(false);
    const next = await take(dir);
    await lease.release();
    expect(next.isCurrent()).toBe(true);
  });

  it('is not current any more once a higher generation stands there', async () => {
    const dir = await leaseFolder();
    const lease = await take(dir);
    await takeGeneration(dir, lease.token + 1, ownerRecord({}));
    expect(lease.isCurrent()).toBe(false);
  });

  it('is not current without its folder', async () => {
    const dir = await leaseFolder();
    const lease = await take(dir);
    await rm(dir, { recursive: true });
    expect(lease.isCurrent()).toBe(false);
  });

  it('B107: takes over at once from a process that was killed', async () => {
    const dir = await leaseFolder();
    const child = spawn('/bin/sh', ['-c', 'read x'], { stdio: ['pipe', 'ignore', 'ignore'] });
    const pid = child.pid ?? 0;
    await takeGeneration(dir, 7, ownerRecord({ pid, startTime: readProcessStartTime(pid) ?? '' }));
    expect(await acquireLease({ dir })).toMatchObject({ heldBy: { pid } });
    child.kill('SIGKILL');
    await once(child, 'exit');
    expect((await take(dir)).token).toBe(8);
  });

  it.each([
    ['whose pid has changed hands', { startTime: '1' }],
    ['of an earlier boot', { bootId: 'an-earlier-boot' }],
  ])('takes over from an owner %s', async (_which, change) => {
    const dir = await leaseFolder();
    await takeGeneration(dir, 1, ownerRecord(change));
    expect((await take(dir)).token).toBe(2);
  });

  it('keeps the last dozens of generations and clears away older ones', async () => {
    const dir = await leaseFolder();
    await mkdir(dir, { recursive: true });
    await writeFile(join(dir, '.0123.tmp'), 'left by a crash');
    for (let round = 0; round < 160; round++) await (await take(dir)).release();
    const numbers = (await readdir(dir)).filter((name) => /^\d+$/.test(name)).map(Number);
    expect(Math.min(...numbers)).toBe(97);
    expect(Math.max(...numbers)).toBe(160);
    expect(await readdir(dir)).not.toContain('.0123.tmp');
  });

  it('waits for the disk once for turn after turn of one owner, and again after another', async () => {
    const dir = await leaseFolder();
    const steps: string[] = [];
    setFaultHook((step) => steps.push(step));
    onTestFinished(() => setFaultHook(undefined));
    for (let round = 0; round < 3; round++) await (await take(dir)).release();
    expect(steps.filter((step) => step === 'lease:filled')).toHaveLength(1);
    expect(steps.filter((step) => step === 'lease:linked')).toHaveLength(3);

    await takeGeneration(dir, 4, ownerRecord({ bootId: 'an-earlier-boot' }));
    expect((await take(dir)).token).toBe(5);
    expect(steps.filter((step) => step === 'lease:filled')).toHaveLength(3);
    expect(await readLeaseOwner(dir)).toMatchObject({ state: 'held', owner: own });
  });

  it('fills its record anew where the folder was removed and begun by another', async () => {
    const dir = await leaseFolder();
    await (await take(dir)).release();
    await rm(dir, { recursive: true });
    await mkdir(dir, { recursive: true });
    await writeFile(join(dir, '1'), JSON.stringify({ pid: 1 }));
    await writeFile(join(dir, '1.released'), '');
    expect((await take(dir)).token).toBe(2);
    expect(await readLeaseOwner(dir)).toMatchObject({ state: 'held', owner: own });
  });

  it('gives signs of life while it is held, and none after', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    onTestFinished(() => void vi.useRealTimers());
    const dir = await leaseFolder();
    const lease = await take(dir);
    const nextBeat = async (before: string) => {
      vi.advanceTimersByTime(3_000);
      const changed = async () => (await readHeartbeat(dir, lease.token)) !== before;
      await waitUntil(changed, { awaiting: 'a sign of life', deadlineMs: 5_000 });
      return readHeartbeat(dir, lease.token);
    };
    const first = await nextBeat('');
    expect(await nextBeat(first)).not.toBe(first);
    await lease.release();
    expect(vi.getTimerCount()).toBe(0);
  });

  it('makes the folder 0700 and the records 0600', async () => {
    const dir = await leaseFolder();
    await (await take(dir)).release();
    expect((await stat(dir)).mode & 0o777).toBe(0o700);
    for (const name of await readdir(dir)) {
      expect((await stat(join(dir, name))).mode & 0o777).toBe(0o600);
    }
  });
});

describe('an owner that cannot be seen from here', () => {
  it('keeps the lease when nobody can say whether the provider is free', async () => {
    const dir = await leaseFolder();
    await takeGeneration(dir, 1, ownerRecord(foreign));
    expect(await acquireLease({ dir, clock: steppedClock() })).toMatchObject({
      heldBy: { pid: 17 },
    });
  });

  it('keeps the lease as long as it gives signs of life', async () => {
    const dir = await leaseFolder();
    await takeGeneration(dir, 1, ownerRecord(foreign));
    const clock = steppedClock((passed) => writeHeartbeat(dir, 1, passed));
    const acquired = await acquireLease({ dir, clock, foreignIsFree: async () => true });
    expect(acquired).toMatchObject({ heldBy: { pid: 17 } });
  });

  it('keeps the lease while the provider itself is not free, at the beginning or at the end', async () => {
    const dir = await leaseFolder();
    await takeGeneration(dir, 1, ownerRecord(foreign));
    const answers = [false, true, false];
    const foreignIsFree = async () => answers.shift() ?? false;
    const clock = steppedClock();
    expect(await acquireLease({ dir, clock, foreignIsFree })).toHaveProperty('heldBy');
    expect(await acquireLease({ dir, clock, foreignIsFree })).toHaveProperty('heldBy');
  });

  it('loses the lease when it gave no sign for long and the provider says free', async () => {
    const dir = await leaseFolder();
    await takeGeneration(dir, 1, ownerRecord(foreign));
    let passedMs = 0;
    const clock = steppedClock((passed) => {
      passedMs = passed;
    });
    const { lease } = await acquireLease({ dir, clock, foreignIsFree: async () => true });
    onTestFinished(async () => lease?.release());
    expect(lease?.token).toBe(2);
    expect(passedMs).toBeGreaterThanOrEqual(15_000);
  });

  it('is treated alike from its own side', async () => {
    const dir = await leaseFolder();
    const lease = await take(dir);
    const options = { dir, identity: foreign, clock: steppedClock() };
    expect(await acquireLease(options)).toMatchObject({ heldBy: { pid: process.pid } });
    const taken = await acquireLease({ ...options, foreignIsFree: async () => true });
    onTestFinished(async () => taken.lease?.release());
    expect(lease.isCurrent()).toBe(false);
  });

  it.each(['', '{"pid":', '\0\0\0', '{"pid":1}'])(
    'includes one whose record was lost (%j)',
    async (content) => {
      const dir = await leaseFolder();
      await mkdir(dir, { recursive: true });
      await writeFile(join(dir, '3'), content);
      const clock = steppedClock();
      expect(await acquireLease({ dir, clock })).toMatchObject({ heldBy: { pid: 0 } });
      const { lease } = await acquireLease({ dir, clock, foreignIsFree: async () => true });
      onTestFinished(async () => lease?.release());
      expect(lease?.token).toBe(4);
    },
  );
});

describe('readLeaseOwner', () => {
  it('finds a key free that nobody ever took, and makes nothing', async () => {
    const dir = await leaseFolder();
    expect(await readLeaseOwner(dir)).toEqual({ state: 'free' });
    await expect(stat(dir)).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it('tells held, free and unknown apart', async () => {
    const dir = await leaseFolder();
    const lease = await take(dir);
    expect(await readLeaseOwner(dir)).toMatchObject({
      state: 'held',
      owner: { pid: process.pid },
    });
    expect(await readLeaseOwner(dir, foreign)).toMatchObject({ state: 'unknown' });
    await lease.release();
    expect(await readLeaseOwner(dir)).toEqual({ state: 'free' });
    await takeGeneration(dir, 2, ownerRecord({ startTime: '1' }));
    expect(await readLeaseOwner(dir)).toEqual({ state: 'free' });
  });

  it('is unknown where the folder cannot be read', async () => {
    const dir = await leaseFolder();
    await mkdir(join(dir, '..'), { recursive: true });
    await writeFile(dir, 'a file');
    expect(await readLeaseOwner(dir)).toEqual({ state: 'unknown' });
  });
});

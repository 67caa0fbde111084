import { describe, expect, it } from 'vitest';
import { backOffMs } from './back-off.js';
import { compareJobs, createJobOrders, type JobRecord } from './job-record.js';
import { recordAfter } from './record-after.js';

const now = Date.parse('2026-01-02T03:04:05.000Z');
const after = { now, maxAttempts: 3, wasStopped: false };
const record: JobRecord = {
  queue: 'work',
  id: 'one',
  payload: null,
  enqueuedAt: '2026-01-02T03:00:00.000Z',
  order: '2026-01-02T03-00-00.000Z~000000000001~00000000',
  attempt: 2,
  state: 'waiting',
};

it('waits 1 s, 2 s, 4 s and so on up to 5 min', () => {
  expect([1, 2, 3, 9, 10, 1_000_000].map(backOffMs)).toEqual([
    1_000, 2_000, 4_000, 256_000, 300_000, 300_000,
  ]);
});

describe('a job after its run', () => {
  it('waits out its back-off when it failed', () => {
    expect(recordAfter(record, { state: 'retry', reason: 'broke' }, after)).toEqual({
      ...record,
      reason: 'broke',
      lastError: 'broke',
      waitMs: 2_000,
      notBefore: '2026-01-02T03:04:07.000Z',
    });
  });

  it('is parked when it failed as often as it may', () => {
    const last = { ...record, attempt: 3 };
    const parked = recordAfter(last, { state: 'retry', reason: 'broke' }, after);
    expect(parked).toMatchObject({ state: 'parked', attempt: 3, lastError: 'broke' });
    expect(parked.reason).toContain('3 times');
  });

  it('has the attempt back when it was put off', () => {
    const notBefore = '2026-01-02T05:04:05+02:00';
    const putOff = recordAfter(record, { state: 'later', reason: 'limit', notBefore }, after);
    expect(putOff).toMatchObject({ attempt: 1, notBefore: '2026-01-02T03:04:05.000Z', waitMs: 0 });
    const far = recordAfter(
      record,
      { state: 'later', reason: 'x', notBefore: '2026-01-02T04:04:05Z' },
      after,
    );
    expect(far).toMatchObject({ notBefore: '2026-01-02T04:04:05.000Z', waitMs: 3_600_000 });
  });

  it('has the attempt back, and waits for nothing, when the engine stopped it', () => {
    const stopped = { ...after, wasStopped: true, maxAttempts: 2 };
    const kept = recordAfter(record, { state: 'retry', reason: 'aborted' }, stopped);
    expect(kept).toEqual({ ...record, attempt: 1, reason: 'aborted' });
  });
});

describe('the order of jobs', () => {
  it('grows within a process though its clock goes back', () => {
    const instants = [5_000, 4_000, 4_000, 6_000];
    const clock = { now: () => instants.shift() ?? 0, monotonicMs: () => 0, sleep: async () => {} };
    const orders = createJobOrders(clock);
    const made = [orders.next(), orders.next(), orders.next(), orders.next()];
    expect([...made].sort(compareJobs)).toEqual(made);
    expect(made.map(({ enqueuedAt }) => enqueuedAt.slice(17, 19))).toEqual([
      '05',
      '05',
      '05',
      '06',
    ]);
  });

  it('counts a job that was put off from the instant it may begin again', () => {
    const younger = { ...record, order: '2026-01-02T03-00-09.000Z~000000000002~00000000' };
    expect(compareJobs(record, younger)).toBeLessThan(0);
    const putOff = { ...record, notBefore: '2026-01-02T03:00:10.000Z' };
    expect(compareJobs(putOff, younger)).toBeGreaterThan(0);
    expect(compareJobs(putOff, putOff)).toBe(0);
  });
});

import { describe, expect, it } from 'vitest';
import { systemClock } from '../time/clock.js';
import { WriteBell } from './write-bell.js';

describe('WriteBell', () => {
  it('wakes who waits, and does not let wait who missed a ring', async () => {
    const bell = new WriteBell();
    const { signal } = new AbortController();
    const one = bell.listen();
    const other = bell.listen();
    one.arm();
    other.arm();
    const waiting = one.nextChange(signal, systemClock);
    bell.ring();
    await waiting;
    await other.nextChange(signal, systemClock);
  });

  it('forgets a ring once the follower has armed anew', async () => {
    const bell = new WriteBell();
    const stop = new AbortController();
    const follower = bell.listen();
    bell.ring();
    follower.arm();
    let isWoken = false;
    const waiting = follower.nextChange(stop.signal, systemClock).then(() => {
      isWoken = true;
    });
    await new Promise(setImmediate);
    expect(isWoken).toBe(false);
    stop.abort();
    await waiting;
  });
});

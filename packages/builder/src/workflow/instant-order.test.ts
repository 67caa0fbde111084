import { describe, expect, it } from 'vitest';
import { compareInstants, findEarliest, findLatest } from './instant-order.js';

describe('compareInstants', () => {
  it('orders what is finer than a millisecond', () => {
    const later = '2026-07-22T10:11:12.110000001Z';
    expect(findLatest([later, '2026-07-22T10:11:12.11Z'])).toBe(later);
    expect(findEarliest([later, '2026-07-22T10:11:12.11Z'])).toBe('2026-07-22T10:11:12.11Z');
  });

  it('takes zeros that a writer left out for zeros', () => {
    expect(compareInstants('2026-07-22T10:11:12Z', '2026-07-22T10:11:12.000000000Z')).toBe(0);
    expect(compareInstants('2026-07-22T10:11:12.1Z', '2026-07-22T10:11:12.09Z')).toBe(1);
  });

  it('knows time zones, and puts what is no instant first', () => {
    expect(compareInstants('2026-07-22T10:00:00+02:00', '2026-07-22T08:00:01Z')).toBe(-1);
    expect(findEarliest(['2026-07-22T10:00:00Z', 'yesterday'])).toBe('yesterday');
    expect(findEarliest([])).toBeUndefined();
  });
});

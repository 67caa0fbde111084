import { describe, expect, it } from 'vitest';
import { type Choice, noteTurn, orderJobs } from './choose-job.js';

function order(waiting: readonly string[], more: Partial<Choice> = {}): readonly string[] {
  const jobs = waiting.map((jobId, at) => ({ jobId, owner: jobId.slice(0, 1), order: `${at}` }));
  return orderJobs({ waiting: jobs, running: [], turns: {}, ...more });
}

describe('the order in which waiting jobs are begun', () => {
  it('is first come, first served, within an owner and among owners that never had a turn', () => {
    expect(order(['b1', 'a1', 'b2'])).toEqual(['b1', 'a1', 'b2']);
  });

  it('puts owners that have fewer jobs running before everybody else', () => {
    const running = [{ owner: 'a' }, { owner: 'a' }, { owner: 'b' }];
    const turns = { a: 1, b: 2, c: 3 };
    expect(order(['a1', 'b1', 'c1'], { running, turns })).toEqual(['c1', 'b1', 'a1']);
  });

  it('puts owners whose turn was longest ago first, where as many run', () => {
    const turns = { a: 2, b: 1 };
    expect(order(['a1', 'b1', 'c1'], { turns })).toEqual(['c1', 'b1', 'a1']);
  });
});

describe('the turns of owners', () => {
  it('give each its place behind all who had none since', () => {
    let turns: Choice['turns'] = {};
    for (const owner of ['a', 'b', 'a']) turns = noteTurn(turns, owner);
    expect(turns).toEqual({ a: 3, b: 2 });
  });

  it('are kept for so many owners, and those whose turn was longest ago are forgotten', () => {
    let turns: Choice['turns'] = {};
    for (let owner = 0; owner < 300; owner += 1) turns = noteTurn(turns, `owner-${owner}`);
    expect(Object.keys(turns)).toHaveLength(256);
    expect(turns['owner-299']).toBe(300);
    expect(turns['owner-43']).toBeUndefined();
  });
});

import { describe, expect, it } from 'vitest';
import { type Attempt, countVerdicts, type Outcome, runWithRetry } from './run-with-retry.js';

interface NamedOutcome extends Outcome {
  readonly name: string;
}

/** Jobs by name, each failing its first `failures` times; tells what ran beside what. */
function plan(failures: Readonly<Record<string, number>>) {
  const runs: string[] = [];
  const told: string[] = [];
  let running = 0;
  let widestAtRetry = 0;
  const run = async (name: string): Promise<NamedOutcome> => {
    running += 1;
    const count = runs.filter((one) => one === name).length;
    runs.push(name);
    if (count > 0) widestAtRetry = Math.max(widestAtRetry, running);
    await Promise.resolve();
    running -= 1;
    const hasFailed = count < (failures[name] ?? 0);
    return { name, ...(hasFailed && { error: `${name} failed` }) };
  };
  const report = ({ verdict, outcome }: Attempt<NamedOutcome>) => {
    told.push(`${verdict} ${outcome.name}`);
  };
  const start = (retry: string) =>
    runWithRetry(Object.keys(failures), { width: 3, retry, run, report });
  return { runs, told, start, widestAtRetry: () => widestAtRetry };
}

describe('runWithRetry', () => {
  it('runs what failed once more, at the end and alone, and tells it as flaky when it passes', async () => {
    const { runs, told, start, widestAtRetry } = plan({ a: 1, b: 0, c: 1, d: 0 });
    const attempts = await start('1');
    expect(runs).toEqual(['a', 'b', 'c', 'd', 'a', 'c']);
    expect(widestAtRetry()).toBe(1);
    expect(told.slice(-2)).toEqual(['flaky a', 'flaky c']);
    expect(told).toContain('again a');
    expect(countVerdicts(attempts)).toEqual({ passed: 4, failed: 0, flaky: 2 });
    expect(attempts.find(({ verdict }) => verdict === 'flaky')).toMatchObject({
      attempts: 2,
      firstError: 'a failed',
    });
  });

  it('fails what fails twice', async () => {
    const { start } = plan({ a: 2, b: 0 });
    expect(countVerdicts(await start('1'))).toEqual({ passed: 1, failed: 1, flaky: 0 });
  });

  it('tries nothing again unless it is told to', async () => {
    const { runs, told, start } = plan({ a: 1 });
    expect(countVerdicts(await start('0'))).toEqual({ passed: 0, failed: 1, flaky: 0 });
    expect(runs).toEqual(['a']);
    expect(told).toEqual(['failed a']);
  });

  it('tries nothing again when more than three failed', async () => {
    const { runs, start } = plan({ a: 1, b: 1, c: 1, d: 1, e: 0 });
    expect(countVerdicts(await start('1'))).toEqual({ passed: 1, failed: 4, flaky: 0 });
    expect(runs).toHaveLength(5);
  });
});

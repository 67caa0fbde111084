import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { waitUntil } from '@holdfast/agent';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { buildProgram } from '../persistence/__fixtures__/build-program.js';
import { createFileStore } from '../persistence/file-store.js';
import { inspectLearningLock } from './inspect-learning-lock.js';
import { listTicketNumbers } from './learning-ticket.js';

/** Real processes that are really killed: they run the bundle of what is tested, since Node 20 runs no TypeScript. */
let bundleDir = '';
let waiterFile = '';
let dir = '';

beforeAll(async () => {
  bundleDir = await mkdtemp(join(tmpdir(), 'holdfast-'));
  waiterFile = await buildProgram(bundleDir, 'waiter', waiterProgram);
}, 120_000);

afterAll(() => rm(bundleDir, { recursive: true, force: true }));

beforeEach(async () => {
  dir = await mkdtemp(join(bundleDir, 'case-'));
});

/**
 * Takes the lock a number of times for one execution. Whoever has it writes to one file, and asks a judge: a socket name
 * that the system gives to one process and takes back only when all threads of a killed one are gone.
 */
const waiterProgram = `
import { appendFileSync, writeSync } from 'node:fs';
import { createServer } from 'node:net';
import { createFileStore } from '#src/persistence/file-store.ts';
import { takeLearningLock } from '#src/workflow/learning-lock.ts';
const [dataDir, step, from, to, hold] = process.argv.slice(2);
const log = (line) => appendFileSync(dataDir + '/log', line + '\\n');
const store = createFileStore({ dataDir });
const { signal } = new AbortController();
for (let round = Number(from); round < Number(to); round += 1) {
  const lock = await takeLearningLock(store, {
    name: 'default',
    executionId: '1~main~' + step,
    signal,
    onWaiting: ({ position }) => log(['wait', step, round, position].join(' ')),
  });
  const server = createServer();
  const verdict = await new Promise((resolve) => {
    server.on('error', (error) => resolve(error.code));
    server.listen('\\0' + dataDir, () => resolve('alone'));
  });
  log(['got', step, round, lock.ticket.number, verdict, lock.isCurrent()].join(' '));
  writeSync(1, 'got ' + round + '\\n');
  if (hold === 'hold') await new Promise((resolve) => process.stdin.once('data', resolve));
  for (let turn = 0; turn < 20; turn += 1) await new Promise(setImmediate);
  if (verdict === 'alone') await new Promise((resolve) => server.close(resolve));
  await lock[Symbol.asyncDispose]();
  writeSync(1, 'gave ' + round + '\\n');
}
process.exit(0);
`;

interface Waiter {
  readonly step: string;
  readonly from?: number;
  readonly to: number;
  readonly hold?: 'hold';
}

function start({ step, from = 0, to, hold }: Waiter): ChildProcess {
  const program = [waiterFile, dir, step, String(from), String(to), hold ?? ''];
  return spawn(process.execPath, program, { stdio: ['pipe', 'pipe', 'inherit'], env: {} });
}

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, 'exit');
  child.kill('SIGKILL');
  await exit;
}

const readLog = async () =>
  (await readFile(join(dir, 'log'), 'utf8'))
    .trim()
    .split('\n')
    .map((line) => line.split(' '));

const got = (lines: readonly string[][]) => lines.filter(([what]) => what === 'got');

async function withStore<Value>(
  body: (store: ReturnType<typeof createFileStore>) => Promise<Value>,
): Promise<Value> {
  await using store = createFileStore({ dataDir: dir });
  return await body(store);
}

const untilWaiting = (steps: readonly string[]) =>
  withStore((store) =>
    waitUntil(
      async () => {
        const { waiting } = await inspectLearningLock(store, 'default');
        const living = waiting.filter(({ isAlive }) => isAlive);
        return living.map(({ executionId }) => executionId.split('~')[2]).join() === steps.join();
      },
      { awaiting: `${steps.join()} in line`, deadlineMs: 60_000 },
    ),
  );

describe('processes that wait for one lock', () => {
  it('get it in order, also one that was killed and came back', async () => {
    const first = start({ step: 'a', to: 1, hold: 'hold' });
    await once(first.stdout ?? first, 'data');
    const second = start({ step: 'b', to: 1 });
    await untilWaiting(['b']);
    const third = start({ step: 'c', to: 1 });
    await untilWaiting(['b', 'c']);
    await kill(second);
    await untilWaiting(['c']);
    const again = start({ step: 'b', to: 1 });
    await untilWaiting(['b', 'c']);
    // The holder dies too: nobody gives anything back.
    const ends = [once(again, 'exit'), once(third, 'exit')];
    await kill(first);
    await Promise.all(ends);
    const order = got(await readLog()).map(([, step, , ticket]) => [step, ticket]);
    expect(order).toEqual([
      ['a', '1'],
      ['b', '2'],
      ['c', '3'],
    ]);
  }, 120_000);

  it('never have it two at a time, and pass nobody who waits twice, whoever is killed', async () => {
    const kills = await runContest({ steps: ['a', 'b', 'c'], rounds: 20, killEvery: 5 });
    expect(kills).toBeGreaterThanOrEqual(10);
    const lines = await readLog();
    const taken = got(lines);
    expect(
      taken.filter(([, , , , verdict, current]) => verdict !== 'alone' || current !== 'true'),
    ).toEqual([]);
    for (const step of ['a', 'b', 'c']) {
      const rounds = taken.filter(([, one]) => one === step).map(([, , round]) => Number(round));
      expect(new Set(rounds).size).toBe(20);
    }
    expect(findOvertakers(lines)).toEqual([]);
    const left = await withStore(async (store) => {
      const { state } = await inspectLearningLock(store, 'default');
      return { state, tickets: await listTicketNumbers(store, 'default') };
    });
    expect(left).toEqual({ state: 'free', tickets: [] });
  }, 120_000);
});

interface Contest {
  readonly steps: readonly string[];
  readonly rounds: number;
  readonly killEvery: number;
}

/** Runs one process a step. Each n-th that has the lock is killed then and goes on where it was; returns how many. */
async function runContest({ steps, rounds, killEvery }: Contest): Promise<number> {
  let count = 0;
  let kills = 0;
  const living = new Set<ChildProcess>();
  const run = async (step: string): Promise<void> => {
    for (let from = 0; from < rounds; ) {
      const child = start({ step, from, to: rounds });
      living.add(child);
      const exit = once(child, 'exit');
      for await (const line of createInterface({ input: child.stdout ?? process.stdin })) {
        if (line.startsWith('gave')) from = Number(line.split(' ')[1]) + 1;
        count += 1;
        if (count % killEvery !== 0) continue;
        kills += 1;
        child.kill('SIGKILL');
      }
      const [code, signal] = await exit;
      living.delete(child);
      // It waits no more, whatever it wrote last.
      await writeFile(join(dir, 'log'), `gone ${step}\n`, { flag: 'a' });
      if (signal === null && code !== 0) throw new TypeError(`${step} ended with ${code}`);
    }
  };
  try {
    await Promise.all(steps.map(run));
  } finally {
    await Promise.all([...living].map(kill));
  }
  return kills;
}

/**
 * Who got the lock before another that waited already, more than once: the first time it may have been about to take
 * it. A wait ends with the lock or with the kill, since a restarted one only has its old place once it is back.
 */
function findOvertakers(lines: readonly string[][]): readonly string[] {
  return lines.flatMap(([what, step], begin) => {
    if (what !== 'wait') return [];
    const rest = lines.slice(begin + 1);
    const end = rest.findIndex(([kind, one]) => kind !== 'wait' && one === step);
    const passed = got(rest.slice(0, end === -1 ? undefined : end)).map(([, one]) => one);
    // One that was ahead goes once as well, and may then be about to take it once more.
    return passed.filter((one) => passed.filter((other) => other === one).length > 2).map(String);
  });
}

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { writeFileAtomic } from './atomic-write.js';
import { acquireLease } from './lease.js';
import { openTurnJournal } from './turn-journal.js';

/** Real processes that are really killed: they run the bundle of what is tested, since Node 20 runs no TypeScript. */
let bundleDir = '';
let dir = '';

beforeAll(async () => {
  bundleDir = await mkdtemp(join(tmpdir(), 'holdfast-'));
  const modules = ['atomic-write', 'fault-point', 'lease', 'prepare-state-dir', 'turn-journal'];
  const entry = join(bundleDir, 'state.ts');
  const paths = modules.map((name) => fileURLToPath(new URL(`./${name}.ts`, import.meta.url)));
  await writeFile(entry, paths.map((path) => `export * from ${JSON.stringify(path)};\n`).join(''));
  await build({
    configFile: false,
    logLevel: 'silent',
    root: fileURLToPath(new URL('.', import.meta.url)),
    ssr: { noExternal: true },
    build: { ssr: entry, outDir: join(bundleDir, 'out'), target: 'node20' },
  });
  await writeFile(join(bundleDir, 'step.mjs'), stepProgram);
  await writeFile(join(bundleDir, 'contender.mjs'), contenderProgram);
});

afterAll(() => rm(bundleDir, { recursive: true, force: true }));

beforeEach(async () => {
  dir = await mkdtemp(join(bundleDir, 'case-'));
});

/** Does one thing, and dies at the step it is told. */
const stepProgram = `
import * as state from './out/state.js';
const [what, path, step] = process.argv.slice(2);
state.setFaultHook((taken) => { if (taken === step) process.kill(process.pid, 'SIGKILL'); });
const at = '2026-01-01T00:00:00.000Z';
try {
  if (what === 'write') await state.writeFileAtomic(path, 'new');
  if (what === 'append') await (await state.openTurnJournal(path)).append({ step: 'accepted', at }, { sync: true });
  if (what === 'lease') await (await state.acquireLease({ dir: path })).lease.release();
  if (what === 'prepare') await state.prepareStateDir(path);
  process.stdout.write('done');
} catch (error) {
  process.stdout.write(String(error.reason ?? error.stack));
}
`;

/**
 * Takes the lease again and again. The judge is a socket name that the system gives to one process and takes back
 * only when all threads of a killed one are gone.
 */
const contenderProgram = `
import { writeSync } from 'node:fs';
import { createServer } from 'node:net';
import { acquireLease } from './out/state.js';
const [dir, judge] = process.argv.slice(2);
const say = (line) => writeSync(1, line + '\\n');
const turn = () => new Promise(setImmediate);
for (;;) {
  const { lease } = await acquireLease({ dir });
  if (!lease) { await turn(); continue; }
  const server = createServer();
  const verdict = await new Promise((resolve) => {
    server.on('error', (error) => resolve(error.code));
    server.listen('\\0' + judge, () => resolve('alone'));
  });
  say(verdict + ' ' + lease.token);
  for (let round = 0; round < 20; round += 1) await turn();
  if (!lease.isCurrent()) say('fenced ' + lease.token);
  if (verdict === 'alone') await new Promise((resolve) => server.close(resolve));
  await lease.release();
}
`;

async function runStep(what: string, path: string, step: string, uid?: number): Promise<string> {
  const child = spawn(process.execPath, [join(bundleDir, 'step.mjs'), what, path, step], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: {},
    ...(uid === undefined ? {} : { uid }),
  });
  let output = '';
  child.stdout.on('data', (chunk) => {
    output += String(chunk);
  });
  const [, signal] = await once(child, 'close');
  return signal ?? output;
}

describe('B46: a process killed at each step of an atomic write', () => {
  it.each([
    ['created', 'old'],
    ['written', 'old'],
    ['synced', 'old'],
    ['renamed', 'new'],
    ['folder-synced', 'new'],
  ])('after "%s" leaves the %s file whole', async (step, content) => {
    const path = join(dir, 'record.json');
    await writeFileAtomic(path, 'old');
    expect(await runStep('write', path, `atomic-write:${step}`)).toBe('SIGKILL');
    expect(await readFile(path, 'utf8')).toBe(content);
    await writeFileAtomic(path, 'newest');
    expect(await readFile(path, 'utf8')).toBe('newest');
  });
});

describe('a process killed at each step of an append', () => {
  it.each(['append:written', 'append:synced'])(
    'after "%s" leaves a journal to go on with',
    async (step) => {
      const path = join(dir, 'turn.journal.jsonl');
      expect(await runStep('append', path, step)).toBe('SIGKILL');
      const journal = await openTurnJournal(path);
      expect(journal.entries).toHaveLength(1);
      await journal.append({ step: 'accepted', at: 'now' }, { sync: true });
      expect((await openTurnJournal(path)).entries).toHaveLength(2);
    },
  );
});

describe('a process killed at each step of a lease', () => {
  it.each([
    ['lease:filled', 1],
    ['lease:linked', 2],
    ['lease:released', 2],
  ])('after "%s" leaves the key to whoever comes next', async (step, token) => {
    expect(await runStep('lease', dir, step)).toBe('SIGKILL');
    const { lease } = await acquireLease({ dir });
    expect(lease?.token).toBe(token);
    await lease?.release();
  });
});

describe('a user who may not write', () => {
  it('is told that the state directory is read-only', async () => {
    const root = join(dir, 'state');
    await mkdir(root);
    for (const path of [bundleDir, join(bundleDir, 'out'), dir]) await chmod(path, 0o755);
    await chmod(root, 0o555);
    // Permissions do not bind root, so that root asks as nobody.
    const uid = process.getuid?.() === 0 ? 65_534 : undefined;
    expect(await runStep('prepare', root, 'none', uid)).toBe('read_only');
    expect(await readdir(root)).toEqual([]);

    // The same for one that was made whole while it could be written.
    await chmod(root, 0o755);
    expect(await runStep('prepare', root, 'none')).toBe('done');
    await chmod(join(root, 'FORMAT'), 0o444);
    await chmod(root, 0o555);
    expect(await runStep('prepare', root, 'none', uid)).toBe('read_only');
  });
});

describe('four processes that contend for one lease and are killed', () => {
  it('never hold it two at a time, and never lose it', async () => {
    const contest = { dir, judge: dir, wanted: 400, killEvery: 10 };
    const { verdicts, kills } = await runContest(contest);
    expect(verdicts.filter(([verdict]) => verdict !== 'alone')).toEqual([]);
    expect(verdicts.length).toBeGreaterThanOrEqual(contest.wanted);
    expect(kills).toBeGreaterThanOrEqual(40);
    const tokens = verdicts.map(([, token]) => Number(token));
    expect(new Set(tokens).size).toBe(tokens.length);
  }, 120_000);
});

interface Contest {
  readonly dir: string;
  readonly judge: string;
  readonly wanted: number;
  readonly killEvery: number;
}

/** Counts acquisitions, and kills whoever reports each n-th one: it still holds the lease then, or is just giving it back. */
async function runContest({ dir: leases, judge, wanted, killEvery }: Contest) {
  const verdicts: string[][] = [];
  const living = new Set<ChildProcess>();
  let kills = 0;
  const contest = new Promise<void>((resolve, reject) => {
    const start = () => {
      const program = [join(bundleDir, 'contender.mjs'), leases, judge];
      const stdio = ['ignore', 'pipe', 'inherit'] as const;
      const child = spawn(process.execPath, program, { stdio: [...stdio], env: {} });
      living.add(child);
      child.on('exit', (_code, signal) => {
        living.delete(child);
        if (signal !== 'SIGKILL') reject(new TypeError('a contender ended by itself'));
      });
      createInterface({ input: child.stdout }).on('line', (line) => {
        verdicts.push(line.split(' '));
        if (verdicts.length === wanted) resolve();
        if (verdicts.length >= wanted || verdicts.length % killEvery !== 0) return;
        kills += 1;
        child.kill('SIGKILL');
        start();
      });
    };
    for (let index = 0; index < 4; index += 1) start();
  });
  try {
    await contest;
  } finally {
    const ends = [...living].map((child) => once(child, 'exit'));
    kills += living.size;
    for (const child of living) child.kill('SIGKILL');
    await Promise.all(ends);
  }
  return { verdicts, kills };
}

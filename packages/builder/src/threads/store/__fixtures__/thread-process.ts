import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { buildProgram } from '../../../persistence/__fixtures__/build-program.js';

/** Opens a thread and claims it, says so, and commits once it is told to. */
const program = `
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { createFileStore } from '#src/persistence/file-store.ts';
import { createThreadStore } from '#src/threads/store/thread-store.ts';
const [dataDir, request, result] = process.argv.slice(2);
const say = (line) => process.stdout.write(line + '\\n');
const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
await say('ready');
if ((await lines.next()).value === 'bear a child') {
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], {
    stdio: ['ignore', 'ignore', 'inherit'],
    detached: true,
  });
  say(String(child.pid));
}
try {
  const threads = createThreadStore(createFileStore({ dataDir }));
  const { thread, replayed } = await threads.open(JSON.parse(request));
  if (!thread) throw Object.assign(new TypeError('replayed'), { kind: 'replayed' });
  await thread.claim();
  await thread.noteNative('native-1');
  await thread.noteTurn('turn-1');
  say('claimed');
  await lines.next();
  await thread.noteResult(JSON.parse(result));
  const { thread: receipt } = await thread.commit();
  await thread[Symbol.asyncDispose]();
  say('committed ' + receipt.checkpoint);
} catch (error) {
  say(String(error.kind ?? error.stack));
}
process.exit();
`;

/** A process with a thread store of its own. */
export interface ThreadProcess {
  readonly pid: number;
  /** What it says next. */
  readonly hear: () => Promise<string>;
  /** `go`, or another word that the program knows. */
  readonly tell: (word?: string) => void;
  readonly signal: (name: NodeJS.Signals) => void;
}

/** Real processes that work on threads: they run a bundle, since Node 20 runs no TypeScript. */
export interface ThreadProcesses extends AsyncDisposable {
  readonly spawn: (dataDir: string, request: unknown, result: unknown) => ThreadProcess;
}

/** Builds the bundle once; disposing of it kills what still runs. */
export async function createThreadProcesses(): Promise<ThreadProcesses> {
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-'));
  const file = await buildProgram(folder, 'threads', program);
  const living = new Set<ChildProcess>();
  return {
    spawn: (dataDir, request, result) => {
      const args = [file, dataDir, JSON.stringify(request), JSON.stringify(result)];
      const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'], env: {} });
      living.add(child);
      child.once('exit', () => living.delete(child));
      const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
      return {
        pid: child.pid ?? 0,
        hear: async () => String((await lines.next()).value),
        tell: (word = 'go') => void child.stdin.write(`${word}\n`),
        signal: (name) => void child.kill(name),
      };
    },
    [Symbol.asyncDispose]: async () => {
      await Promise.all([...living].map(endProcess));
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function endProcess(child: ChildProcess): Promise<void> {
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
}

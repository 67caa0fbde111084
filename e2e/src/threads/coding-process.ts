import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { findProcess } from '../harness/processes.js';
import { waitFor } from '../harness/wait-for.js';
import type { CodingCall, CodingEnd, CodingLine, CodingServiceOptions } from './coding-command.js';

/** How a job ended, and in which process it was worked on. */
export interface FinishedJob {
  readonly end: CodingEnd;
  readonly workerPid: number;
}

/** A command that did not do what was asked, with the kind of its typed error. */
export class CodingCallError extends Error {
  readonly kind: string;

  constructor({ id, kind, error }: Extract<CodingLine, { type: 'failed' }>) {
    super(`${id}: ${error}`);
    this.name = 'CodingCallError';
    this.kind = kind;
  }
}

/** A service with coding runners, in a process of its own. */
export interface CodingProcess {
  readonly pid: number;
  /** What came of a command; a `CodingCallError` when it failed. */
  readonly ask: (call: CodingCall) => Promise<unknown>;
  /** Runs a job to its end, and tells in which process. */
  readonly run: (job: Omit<Extract<CodingCall, { call: 'run' }>, 'call'>) => Promise<FinishedJob>;
  /** SIGKILL; resolves when the process is gone. */
  readonly kill: () => Promise<void>;
}

const program = fileURLToPath(new URL('./coding-host.js', import.meta.url));

/** How long one job may take; a person's own CLI thinks longer than a scripted model. */
const DEADLINE_MS = 300_000;

/** Starts a service in an environment that has nothing of the person who runs this. */
export async function startCodingProcess(
  options: CodingServiceOptions,
  home: string,
): Promise<CodingProcess> {
  const child = spawn(process.execPath, ['--enable-source-maps', program], {
    cwd: home,
    env: { PATH: process.env['PATH'] ?? '', HOME: home, LANG: 'C.UTF-8' },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const lines = readLines(child);
  const pid = child.pid ?? -1;
  child.stdin.write(`${JSON.stringify(options)}\n`);
  await lines.waitFor('the service serves', ({ type }) => type === 'ready');
  let asked = 0;
  const begin = (call: CodingCall) => {
    asked += 1;
    const id = `${asked}`;
    child.stdin.write(`${JSON.stringify({ ...call, id })}\n`);
    const isItsEnd = (line: CodingLine) => 'id' in line && line.id === id;
    const settle = async () => {
      const line = await lines.waitFor(`an answer to ${call.call}`, isItsEnd);
      if (line?.type === 'failed') throw new CodingCallError(line);
      return line?.type === 'done' ? line.value : undefined;
    };
    return { settle, isOver: () => lines.hasEnded() || lines.told.some(isItsEnd) };
  };
  return {
    ...{ pid, kill: lines.kill },
    ask: (call) => begin(call).settle(),
    run: async (job) => {
      const { settle, isOver } = begin({ call: 'run', ...job });
      const worker = watchForWorker(pid, isOver);
      const end = (await settle()) as CodingEnd;
      return { end, workerPid: await worker };
    },
  };
}

/** What a service tells, until it is gone. */
function readLines(child: ChildProcessByStdio<Writable, Readable, null>) {
  const told: CodingLine[] = [];
  const gone = new Promise<void>((resolve) => child.once('close', () => resolve()));
  let isGone = false;
  void gone.then(() => {
    isGone = true;
  });
  // One that was killed takes no more input.
  child.stdin.on('error', () => {});
  createInterface({ input: child.stdout }).on('line', (line) => told.push(JSON.parse(line)));
  return {
    told,
    hasEnded: () => isGone,
    kill: async () => {
      child.kill('SIGKILL');
      await gone;
    },
    waitFor: async (awaited: string, fits: (line: CodingLine) => boolean) => {
      const look = () => {
        if (isGone && !told.some(fits)) throw new Error(`The service ended before ${awaited}.`);
        return told.some(fits);
      };
      await waitFor(awaited, look, { deadlineMs: DEADLINE_MS });
      return told.find(fits);
    },
  };
}

/** The process that a service has a job worked on in; -1 when none was seen until the job ended. */
async function watchForWorker(servicePid: number, isOver: () => boolean): Promise<number> {
  let found = -1;
  const look = async () => {
    found = await findWorker(servicePid);
    return found !== -1 || isOver();
  };
  await waitFor('a worker process', look, { deadlineMs: DEADLINE_MS });
  return found;
}

async function findWorker(servicePid: number): Promise<number> {
  const path = `/proc/${servicePid}/task/${servicePid}/children`;
  const children = await readFile(path, 'utf8').catch(() => '');
  for (const child of children.split(' ').filter(Boolean)) {
    const { command = '' } = (await findProcess(Number(child))) ?? {};
    if (/coding-worker\.\w+ serve /.test(command)) return Number(child);
  }
  return -1;
}

import { spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { findProcess } from '../harness/processes.js';
import { waitFor } from '../harness/wait-for.js';
import type {
  CodingCommand,
  CodingEnd,
  CodingLine,
  CodingServiceOptions,
} from './coding-command.js';

/** How a job ended, and in which process it was worked on. */
export interface FinishedJob {
  readonly end: CodingEnd;
  readonly workerPid: number;
}

/** A service with coding runners, in a process of its own. */
export interface CodingProcess {
  readonly pid: number;
  /** Runs a job to its end; one that does not succeed is thrown. */
  readonly run: (command: CodingCommand) => Promise<FinishedJob>;
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
  const told: CodingLine[] = [];
  const gone = new Promise<void>((resolve) => child.once('close', () => resolve()));
  let hasEnded = false;
  void gone.then(() => {
    hasEnded = true;
  });
  child.stdin.on('error', () => {});
  createInterface({ input: child.stdout }).on('line', (line) => told.push(JSON.parse(line)));
  const pid = child.pid ?? -1;
  const waitForLine = async (awaited: string, fits: (line: CodingLine) => boolean) => {
    const look = () => {
      if (hasEnded) throw new Error(`The service ended before ${awaited}.`);
      return told.some(fits);
    };
    await waitFor(awaited, look, { deadlineMs: DEADLINE_MS });
    return told.find(fits);
  };
  const kill = async () => {
    child.kill('SIGKILL');
    await gone;
  };
  child.stdin.write(`${JSON.stringify(options)}\n`);
  await waitForLine('the service serves', ({ type }) => type === 'ready');
  return {
    pid,
    kill,
    run: async (command) => {
      child.stdin.write(`${JSON.stringify(command)}\n`);
      const isItsEnd = (line: CodingLine) => 'jobId' in line && line.jobId === command.jobId;
      const worker = watchForWorker(pid, () => hasEnded || told.some(isItsEnd));
      const line = await waitForLine(`the end of ${command.jobId}`, isItsEnd);
      if (line?.type === 'ended') return { end: line.outcome, workerPid: await worker };
      throw new Error(line?.type === 'failed' ? `${command.jobId}: ${line.error}` : 'unreachable');
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

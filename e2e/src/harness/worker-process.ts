import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { errorFromJson, type HostRequest, type SteerResult } from '@holdfast/provider-core';
import type { HandleJson } from '@holdfast/provider-core/certification';
import { createDeferred } from './deferred.js';
import { waitFor } from './wait-for.js';
import type { WorkerCommand, WorkerOrder, WorkerReport } from './worker/worker-command.js';

/** A service process that is running one call. */
export interface WorkerProcess {
  readonly pid: number;
  /** The call's result; rejects with its typed error, or with a {@link WorkerDiedError}. */
  readonly result: Promise<unknown>;
  readonly handle: Promise<HandleJson>;
  readonly events: () => readonly unknown[];
  /** What the worker's host was asked. */
  readonly requests: () => readonly HostRequest[];
  readonly interrupt: () => void;
  readonly steer: (text: string) => Promise<SteerResult>;
  readonly frozen: () => Promise<void>;
  readonly thaw: () => void;
  readonly kill: () => Promise<void>;
  /** Resolves when the process is gone. */
  readonly exited: Promise<void>;
}

/** The worker died before it told an outcome: killed from outside, or by a fault. */
class WorkerDiedError extends Error {
  readonly kind = 'worker_died';
  readonly signal: string | null;

  constructor(signal: string | null, code: number | null, stderr: string) {
    super(`The worker died (${signal ?? `exit ${code}`}). ${stderr.trim().slice(-2000)}`);
    this.name = 'WorkerDiedError';
    this.signal = signal;
  }
}

export interface WorkerSettings {
  readonly home: string;
  /** Added to the worker's scrubbed environment. */
  readonly env?: Readonly<Record<string, string>>;
  /** The Node that runs the worker; our own when absent. */
  readonly node?: string | undefined;
}

const program = fileURLToPath(new URL('./session-worker.js', import.meta.url));

/** Starts a service process for one call. It gets nothing of this process's environment but PATH. */
export function startWorker(
  command: WorkerCommand,
  { home, env = {}, node = process.execPath }: WorkerSettings,
): WorkerProcess {
  const child = spawn(node, ['--enable-source-maps', program], {
    cwd: home,
    env: {
      PATH: process.env['PATH'] ?? '',
      HOME: home,
      LANG: 'C.UTF-8',
      // The http hook is only an accelerator: every turn is certified without it.
      HOLDFAST_HTTP_SIGNALS: 'off',
      ...env,
    },
    stdio: 'pipe',
  });
  child.stdin.on('error', () => {});
  child.stdin.write(`${JSON.stringify(command)}\n`);
  const exited = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const pid = child.pid ?? -1;
  const give = (order: WorkerOrder) => child.stdin.write(`${JSON.stringify(order)}\n`);
  const { steered, ...listened } = listen(child);
  return {
    pid,
    ...listened,
    exited,
    interrupt: () => give({ order: 'interrupt' }),
    steer: (text) => {
      const result = createDeferred<SteerResult>();
      steered.push(result.resolve);
      void exited.then(() => result.reject(new Error('The worker ended before it told of it.')));
      give({ order: 'steer', text });
      return result.promise;
    },
    frozen: () => waitFor('the worker to stand still', () => isStopped(pid)),
    thaw: () => child.kill('SIGCONT'),
    kill: async () => {
      child.kill('SIGKILL');
      await exited;
    },
  };
}

interface Listened extends Pick<WorkerProcess, 'result' | 'handle' | 'events' | 'requests'> {
  /** Who waits to hear of a text put in, in the order they asked. */
  readonly steered: ((result: SteerResult) => void)[];
}

function listen(child: ChildProcessWithoutNullStreams): Listened {
  const events: unknown[] = [];
  const requests: HostRequest[] = [];
  const steered: ((result: SteerResult) => void)[] = [];
  const handle = createDeferred<HandleJson>();
  const outcome = createDeferred<unknown>();
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (chunk) => {
    stderr += chunk;
  });
  createInterface({ input: child.stdout }).on('line', (line) => {
    const report: WorkerReport = JSON.parse(line);
    if (report.type === 'event') events.push(report.event);
    if (report.type === 'handle') handle.resolve(report.handle);
    if (report.type === 'request') requests.push(report.request);
    if (report.type === 'steered') steered.shift()?.(report.result);
    if (report.type === 'result') outcome.resolve(report.result);
    if (report.type === 'error') outcome.reject(toError(report.error));
  });
  child.once('close', (code, signal) => outcome.reject(new WorkerDiedError(signal, code, stderr)));
  outcome.promise.catch((error: unknown) => handle.reject(error));
  handle.promise.catch(() => {});
  return {
    result: outcome.promise,
    handle: handle.promise,
    events: () => events,
    requests: () => requests,
    steered,
  };
}

function toError(json: unknown): Error {
  const typed = errorFromJson(json);
  if (typed) return typed;
  const fields: Readonly<Record<string, unknown>> =
    typeof json === 'object' && json !== null ? { ...json } : {};
  const error = new Error(String(fields['message'] ?? json));
  if (typeof fields['stack'] === 'string') error.stack = fields['stack'];
  if (typeof fields['name'] === 'string') error.name = fields['name'];
  return error;
}

async function isStopped(pid: number): Promise<boolean> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  return stat.slice(stat.lastIndexOf(')') + 2).startsWith('T');
}

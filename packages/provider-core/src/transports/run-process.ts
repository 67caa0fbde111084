import { type ChildProcess, type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { type FileHandle, open } from 'node:fs/promises';
import { readProcessStartTime } from '../state/process-identity.js';
import { systemClock } from '../time/clock.js';

/** What to run. The environment is exactly `env`: nothing of ours is added. */
export interface ProcessRequest {
  readonly file: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly workingDir: string;
}

/** A process that is run to its end. */
export interface RunProcessRequest extends ProcessRequest {
  /** Written to its standard input, which is closed then. */
  readonly input?: string | Uint8Array | undefined;
  /** 30 seconds when absent; then the process and its group are killed. */
  readonly timeoutMs?: number | undefined;
  /** Per stream, 1 MiB when absent; a process that says more is cut short. */
  readonly maxOutputCharacters?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Values that must not come back in the output: each is replaced by `[redacted]`. */
  readonly secrets?: readonly string[] | undefined;
}

/** How a process ended. Only `exited` with code 0 is success; the output so far is there in every case. */
export interface ProcessResult {
  readonly outcome: 'exited' | 'killed' | 'timed_out' | 'not_started';
  readonly exitCode?: number;
  /** The signal that ended it, or the system's code (`ENOENT`) for one that did not start. */
  readonly reason?: string;
  readonly stdout: string;
  readonly stderr: string;
  /** A stream was longer than the limit and was cut. */
  readonly truncated: boolean;
}

const DEFAULT_TIMEOUT_MS = 30_000;
const DEFAULT_MAX_OUTPUT_CHARACTERS = 1024 * 1024;

/** How a process ended whose output is no text, or not only: its bytes as they came. */
export interface ProcessBytes extends Omit<ProcessResult, 'stdout'> {
  readonly stdout: Uint8Array;
}

/** Runs a program to its end and reports how it ended; throws only the signal's reason. */
export async function runProcess(request: RunProcessRequest): Promise<ProcessResult> {
  const { secrets = [], maxOutputCharacters } = request;
  const { subprocess, watch } = await startRun(request, {
    encoding: 'utf8',
    maxBuffer: maxOutputCharacters ?? DEFAULT_MAX_OUTPUT_CHARACTERS,
  });
  const result = await subprocess;
  const ended = describeEnd(result, watch.stop());
  request.signal?.throwIfAborted();
  return {
    ...ended,
    stdout: redact(result.stdout, secrets),
    stderr: redact(result.stderr, secrets),
  };
}

/** Runs a program whose output is no text, at most `maxOutputBytes` of each stream; else as {@link runProcess}. */
export async function runProcessForBytes({
  maxOutputBytes = DEFAULT_MAX_OUTPUT_CHARACTERS,
  ...request
}: Omit<RunProcessRequest, 'maxOutputCharacters' | 'secrets'> & {
  readonly maxOutputBytes?: number | undefined;
}): Promise<ProcessBytes> {
  const output = { encoding: 'buffer', maxBuffer: maxOutputBytes } as const;
  const { subprocess, watch } = await startRun(request, output);
  const result = await subprocess;
  const ended = describeEnd(result, watch.stop());
  request.signal?.throwIfAborted();
  return { ...ended, stdout: result.stdout, stderr: new TextDecoder().decode(result.stderr) };
}

interface OutputOptions<Encoding extends 'utf8' | 'buffer'> {
  readonly encoding: Encoding;
  readonly maxBuffer: number;
}

async function startRun<Encoding extends 'utf8' | 'buffer'>(
  request: RunProcessRequest,
  output: OutputOptions<Encoding>,
) {
  const { timeoutMs = DEFAULT_TIMEOUT_MS, signal } = request;
  signal?.throwIfAborted();
  // Loaded on first use: it costs more than most programs run through here.
  const { execa } = await import('execa');
  const subprocess = execa(request.file, [...request.args], {
    ...output,
    env: request.env,
    extendEnv: false,
    cwd: request.workingDir,
    input: request.input ?? '',
    stripFinalNewline: false,
    detached: true,
    cleanup: false,
    reject: false,
  });
  return { subprocess, watch: watchRun(subprocess, timeoutMs, signal) };
}

function describeEnd(result: EndedRun, timedOut: boolean) {
  return {
    outcome: timedOut ? 'timed_out' : readOutcome(result),
    ...(result.exitCode === undefined ? {} : { exitCode: result.exitCode }),
    ...readReason(result),
    truncated: result.isMaxBuffer,
  } as const;
}

interface EndedRun {
  readonly isMaxBuffer: boolean;
  readonly exitCode?: number | undefined;
  readonly signal?: string | undefined;
  readonly code?: string | undefined;
}

function readOutcome({ exitCode, signal }: EndedRun): ProcessResult['outcome'] {
  if (exitCode !== undefined) return 'exited';
  return signal === undefined ? 'not_started' : 'killed';
}

function readReason({ signal, code }: EndedRun): { reason?: string } {
  const reason = signal ?? code;
  return reason === undefined ? {} : { reason };
}

/** Longest first, so that a secret inside another one leaves nothing of the longer behind. */
function redact(text: string, secrets: readonly string[]): string {
  return secrets
    .filter((secret) => secret !== '')
    .toSorted((a, b) => b.length - a.length)
    .reduce((redacted, secret) => redacted.replaceAll(secret, '[redacted]'), text);
}

/** Kills the whole group at the limit or on abort: a child of it that holds a pipe would keep us waiting. */
function watchRun(child: ChildProcess, timeoutMs: number, signal: AbortSignal | undefined) {
  const ended = new AbortController();
  let timedOut = false;
  const kill = () => {
    killGroup(child.pid);
    child.stdout?.destroy();
    child.stderr?.destroy();
  };
  systemClock.sleep(timeoutMs, ended.signal).then(
    () => {
      timedOut = true;
      kill();
    },
    () => undefined,
  );
  signal?.addEventListener('abort', kill, { once: true });
  return {
    stop: () => {
      ended.abort();
      signal?.removeEventListener('abort', kill);
      return timedOut;
    },
  };
}

function killGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // It has ended already.
  }
}

/** A process that goes on without us. */
export interface DetachedProcess {
  readonly pid: number;
  /** Ticks since boot, to tell it from a later process with its id; absent where the system does not say. */
  readonly startTime?: string;
}

/** A server that must outlive us: its output goes to files, since a pipe would end with us. */
export interface SpawnDetachedRequest extends ProcessRequest {
  /** Absolute path of what it reads as its standard input, to the end; nothing when absent. */
  readonly stdinFile?: string | undefined;
  /** Absolute path, appended to and created 0600; dropped when absent. */
  readonly stdoutFile?: string | undefined;
  readonly stderrFile?: string | undefined;
}

/** A program that could not be started at all. */
export class ProcessStartError extends Error {
  constructor(
    readonly file: string,
    /** The system's code, such as `ENOENT` or `EACCES`. */
    readonly code: string,
    options?: ErrorOptions,
  ) {
    super(`${file} could not be started: ${code}.`, options);
    this.name = 'ProcessStartError';
  }
}

/** Starts a program in a session of its own, so that no signal to us or our terminal reaches it. */
export async function spawnDetached(request: SpawnDetachedRequest): Promise<DetachedProcess> {
  await using input = await openInput(request.stdinFile);
  await using output = await openOutput(request.stdoutFile);
  await using errors = await openOutput(request.stderrFile);
  const child = spawn(request.file, [...request.args], {
    env: { ...request.env },
    cwd: request.workingDir,
    detached: true,
    stdio: [input.fd, output.fd, errors.fd],
  });
  const pid = await waitForStart(child, request.file);
  child.unref();
  const startTime = readProcessStartTime(pid);
  return { pid, ...(startTime === undefined ? {} : { startTime }) };
}

/** Starts a program that we talk to over pipes. It leads a group of its own and may end with us. */
export async function spawnPiped(request: ProcessRequest): Promise<ChildProcessWithoutNullStreams> {
  const child = spawn(request.file, [...request.args], {
    env: { ...request.env },
    cwd: request.workingDir,
    detached: true,
    stdio: 'pipe',
  });
  await waitForStart(child, request.file);
  return child;
}

async function waitForStart(child: ChildProcess, file: string): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    child.once('spawn', resolve);
    child.once('error', (error: NodeJS.ErrnoException) => {
      reject(new ProcessStartError(file, error.code ?? 'unknown', { cause: error }));
    });
  });
  if (child.pid === undefined) throw new Error('unreachable: a spawned process has no id');
  return child.pid;
}

type OpenedFile = AsyncDisposable & { readonly fd: 'ignore' | number };

async function openInput(path: string | undefined): Promise<OpenedFile> {
  return disposable(path === undefined ? undefined : await open(path, 'r'));
}

async function openOutput(path: string | undefined): Promise<OpenedFile> {
  return disposable(path === undefined ? undefined : await open(path, 'a', 0o600));
}

function disposable(file: FileHandle | undefined): OpenedFile {
  return {
    fd: file?.fd ?? 'ignore',
    [Symbol.asyncDispose]: async () => file?.close(),
  };
}

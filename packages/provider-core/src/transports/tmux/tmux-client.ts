import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { runProcess } from '../run-process.js';
import type { TmuxReply } from './control-protocol.js';
import { type CommandLimits, DEFAULT_COMMAND_DEADLINE_MS } from './deadline.js';
import { TmuxError } from './tmux-error.js';
import { quoteArgument } from './tmux-quote.js';

/** Which tmux to run, on which socket. */
export interface TmuxClientOptions {
  readonly socketPath: string;
  /** `tmux` on the scrubbed PATH when absent. */
  readonly tmuxBinary?: string | undefined;
  /** Replaces single variables of the scrubbed environment that tmux is run with. */
  readonly env?: Readonly<Record<string, string>> | undefined;
}

/** The only door to the tmux executable. */
export interface TmuxClient {
  /** A control-mode client attached to the keeper session; its commands go in by stdin. */
  readonly attach: () => ChildProcessWithoutNullStreams;
  /** Runs command lines by a client of their own. Never starts a server. */
  readonly runScript: (script: string, limits?: CommandLimits) => Promise<TmuxReply>;
  /** Starts a server that outlives us. Does no harm where one is there already. */
  readonly startServer: (limits?: CommandLimits) => Promise<TmuxReply>;
}

const KEEPER_SESSION = 'holdfast-keeper';
const MAX_SOCKET_PATH_BYTES = 100;
const MAX_OUTPUT_CHARACTERS = 64 * 1024 * 1024;

/** Creates a client for one socket. The environment of this process reaches neither tmux nor its panes. */
export function createTmuxClient({
  socketPath,
  tmuxBinary = 'tmux',
  env,
}: TmuxClientOptions): TmuxClient {
  if (!socketPath.startsWith('/') || Buffer.byteLength(socketPath) > MAX_SOCKET_PATH_BYTES) {
    throw new TypeError(
      `socketPath must be absolute and of ${MAX_SOCKET_PATH_BYTES} bytes at most`,
    );
  }
  const target: Target = {
    binary: tmuxBinary,
    args: ['-u', '-S', socketPath, '-f', '/dev/null'],
    env: { ...SCRUBBED_ENVIRONMENT, ...env },
  };
  return {
    attach: () => attachControl(target),
    runScript: (script, limits) =>
      runOnce(target, ['-N', 'source-file', '-'], { ...limits, input: script }),
    startServer: (limits) => runOnce(target, START_COMMAND, { ...limits, input: '' }),
  };
}

const SCRUBBED_ENVIRONMENT = {
  PATH: '/usr/local/bin:/usr/bin:/bin:/opt/homebrew/bin',
  HOME: '/nonexistent',
  LANG: 'C.UTF-8',
  TERM: 'xterm-256color',
};

/** The keeper runs a program that never ends, without a shell: two arguments are executed as they stand. */
const NEW_KEEPER = ['new-session', '-d', '-s', KEEPER_SESSION, '--', '/usr/bin/env', 'cat'];
const START_COMMAND = ['set-option', '-g', 'exit-empty', 'off', ';', ...NEW_KEEPER];

interface Target {
  readonly binary: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

function attachControl({ binary, args, env }: Target): ChildProcessWithoutNullStreams {
  const flags = ['-N', '-C', 'attach-session', '-f', 'ignore-size,no-output'];
  // Not by execa: loading it costs more than the attach. Its own session, so that a Ctrl-C in our terminal ends us first.
  return spawn(binary, [...args, ...flags, '-t', `=${KEEPER_SESSION}`], {
    env: { ...env },
    cwd: '/',
    detached: true,
    stdio: 'pipe',
  });
}

interface RunOptions extends CommandLimits {
  readonly input: string;
}

async function runOnce(
  { binary, args, env }: Target,
  command: readonly string[],
  { input, deadlineMs = DEFAULT_COMMAND_DEADLINE_MS, signal }: RunOptions,
): Promise<TmuxReply> {
  const result = await runProcess({
    file: binary,
    args: [...args, ...command],
    env,
    workingDir: '/',
    input,
    timeoutMs: deadlineMs,
    maxOutputCharacters: MAX_OUTPUT_CHARACTERS,
    signal,
  });
  if (result.outcome === 'not_started') {
    throw new TmuxError('missing', `tmux cannot be run: ${binary} (${result.reason}). Install it.`);
  }
  if (result.outcome === 'timed_out') {
    throw new TmuxError('unresponsive', 'The tmux server did not answer in time.', {
      mayHaveRun: true,
    });
  }
  const text = result.stdout.replace(/\n$/, '');
  const lines = text === '' ? [] : text.split('\n');
  if (result.exitCode === 0) return { lines };
  return { lines, error: result.stderr.slice(-500) || `tmux ended with ${result.reason}` };
}

const OLDEST_VERSION = [3, 2] as const;
const versions = new Map<string, string>();

/** The version of the executable, asked once; a tmux older than 3.2 or missing is a {@link TmuxError}. */
export async function checkTmuxVersion(
  { tmuxBinary = 'tmux', env }: Omit<TmuxClientOptions, 'socketPath'>,
  limits?: CommandLimits,
): Promise<string> {
  const known = versions.get(tmuxBinary);
  if (known !== undefined) return known;
  const target = { binary: tmuxBinary, args: [], env: { ...SCRUBBED_ENVIRONMENT, ...env } };
  const { lines, error } = await runOnce(target, ['-V'], { ...limits, input: '' });
  if (error !== undefined) throw new TmuxError('missing', `${tmuxBinary} -V failed: ${error}`);
  const version = (lines[0] ?? '').replace(/^tmux /, '');
  checkVersionIsSupported(version);
  versions.set(tmuxBinary, version);
  return version;
}

/** Throws when `version` is one that lacks what we build on; versions without a number are taken as new. */
export function checkVersionIsSupported(version: string): void {
  const match = /^(?:next-)?(\d+)\.(\d+)/.exec(version);
  if (!match) return;
  const [major, minor] = [Number(match[1]), Number(match[2])];
  const [oldestMajor, oldestMinor] = OLDEST_VERSION;
  if (major > oldestMajor || (major === oldestMajor && minor >= oldestMinor)) return;
  throw new TmuxError('too_old', `tmux ${version} is too old: install 3.2 or newer.`);
}

/** {@link NEW_KEEPER} as a command line. */
export const NEW_KEEPER_SCRIPT = NEW_KEEPER.map(quoteArgument).join(' ');

import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chmod, readFile, rm } from 'node:fs/promises';
import { CliUnusableError, TimedOutError } from '../../errors/turn-error.js';
import type { ServedPane } from '../../spec/served-pane.js';
import { writeFileAtomic } from '../../state/atomic-write.js';
import { faultPoint } from '../../state/fault-point.js';
import { acquireLease, type Lease } from '../../state/lease.js';
import { ensurePrivateDir } from '../../state/private-dir.js';
import { ownIdentity } from '../../state/process-identity.js';
import { waitUntil } from '../../time/wait-until.js';
import { createChildEnvironment } from '../child-environment.js';
import { spawnDetached } from '../run-process.js';
import type { SessionContext } from '../session-transport.js';
import { connectToOwnServer } from './connect-to-server.js';
import type { ServerConnection } from './server-connection.js';
import { readServerRecord, saveServerRecord, serverFiles } from './server-files.js';
import { planServerPlace, type ServerPlace } from './server-place.js';
import { endServerProcesses, observeServer, observeWatchdog } from './server-process.js';
import type { ServerRecord } from './server-record.wire.js';
import { planWatchdogScript, type WatchdogTimes } from './watchdog-script.js';

/** A connection to a server that lives. */
export interface RunningServer {
  readonly place: ServerPlace;
  readonly record: ServerRecord;
  readonly connection: ServerConnection;
  /** Whether it had to be started for this. */
  readonly wasStarted: boolean;
}

export interface EnsureServerRequest {
  readonly way: ServedPane;
  readonly context: SessionContext;
  readonly times: WatchdogTimes;
  readonly deadlineMs: number;
  readonly signal?: AbortSignal | undefined;
  /** Marks the session in the server's folder, so that nobody stops the server meanwhile. */
  readonly mark: (place: ServerPlace) => Promise<void>;
}

/** Connects to the session's server, and starts it first where it does not live. Never two of one digest. */
export async function ensureServer(request: EnsureServerRequest): Promise<RunningServer> {
  const { way, context, signal } = request;
  const place = planServerPlace(way, context);
  await ensurePrivateDir(serverFiles(place.dir).sessionsDir);
  await request.mark(place);
  return waitUntil(
    async () => (await attach(request, place)) ?? (await startUnderLock(request, place)),
    {
      awaiting: `the server of ${context.definition.displayName}`,
      deadlineMs: request.deadlineMs,
      signal,
      clock: context.clock,
      layer: 'served-pane',
    },
  );
}

/** Nothing when there is no living server, or one that is about to stop. */
async function attach(
  request: EnsureServerRequest,
  place: ServerPlace,
): Promise<RunningServer | undefined> {
  const record = await readServerRecord(place.dir);
  if (!record?.server) return undefined;
  const state = observeServer(record);
  if (state === 'unknown') throw unresponsive(request, 'its process cannot be seen from here');
  if (state === 'dead') return undefined;
  const connection = await connectOrNot(request, record);
  if (!connection) return undefined;
  // Our mark stands, so either the one who stops sees it, or we see here that it is stopping.
  if (!existsSync(serverFiles(place.dir).stopping)) {
    return { place, record, connection, wasStarted: false };
  }
  connection[Symbol.dispose]();
  return undefined;
}

/** Nothing when nobody listens; a server that listens and does not answer is an error. */
async function connectOrNot(
  { way, context, deadlineMs, signal }: EnsureServerRequest,
  record: ServerRecord,
): Promise<ServerConnection | undefined> {
  try {
    return await connectToOwnServer(way, context, record, { deadlineMs, signal });
  } catch (error) {
    if (isNobodyThere(error)) return undefined;
    throw error;
  }
}

/** Tells whether nobody listens on the socket, as opposed to somebody who does not answer. */
export function isNobodyThere(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return code === 'ENOENT' || code === 'ECONNREFUSED' || code === 'ECONNRESET';
}

async function startUnderLock(
  request: EnsureServerRequest,
  place: ServerPlace,
): Promise<RunningServer | undefined> {
  await using lock = await takeServerLock(place.dir, request.context);
  if (!lock) return undefined;
  // Somebody else may have started it while we waited for the lock.
  const running = await attach(request, place);
  if (running) return running;
  await clearRemains(request, place);
  // Awaited here: the lock goes with this scope.
  return await start(request, place);
}

/** The right to start or stop the server of a folder; nothing while another process has it. */
export async function takeServerLock(
  dir: string,
  { clock }: Pick<SessionContext, 'clock'>,
): Promise<Lease | undefined> {
  const { lease } = await acquireLease({ dir: serverFiles(dir).lockDir, clock });
  return lease;
}

/** Ends what a crash left half started, and a server that lives but cannot be reached any more. */
async function clearRemains(
  { context }: EnsureServerRequest,
  { dir, socketPath }: ServerPlace,
): Promise<void> {
  const record = await readServerRecord(dir);
  if (record) {
    const { left } = await endServerProcesses(record, { graceMs: 3_000, clock: context.clock });
    if (left.length > 0) {
      throw new CliUnusableError(
        context.binary,
        'unresponsive',
        `an old server (pid ${left.join(', ')}) does not end. End it by hand.`,
      );
    }
  }
  const { pid, stopping } = serverFiles(dir);
  for (const path of [socketPath, pid, stopping]) await rm(path, { force: true });
}

async function start(request: EnsureServerRequest, place: ServerPlace): Promise<RunningServer> {
  const { way, context, times } = request;
  const { dir, socketPath, launch } = place;
  const { bootId, pidNamespace } = ownIdentity();
  const nonce = randomBytes(16).toString('hex');
  const { cliVersion } = context;
  const planned = { nonce, socketPath, cliVersion, bootId, pidNamespace };
  // The nonce is on disk before there is a process that carries it, so that one is always found.
  await saveServerRecord(dir, planned);
  faultPoint('server:planned');
  const script = planWatchdogScript(times, way.record.turnMarks);
  await writeFileAtomic(serverFiles(dir).script, script, { mode: 0o700, durable: false });
  await truncateLog(dir);
  const env = createChildEnvironment({ config: context.config, added: launch.env, nonce });
  const watchdog = await spawnWatchdog(dir, env, [
    socketPath,
    'start',
    context.binary,
    ...launch.args,
  ]);
  faultPoint('server:spawned');
  const spawned = { ...planned, watchdog };
  await saveServerRecord(dir, spawned);
  const connection = await awaitServer(request, place, spawned);
  const record = { ...spawned, server: await readServerPid(dir) };
  await saveServerRecord(dir, record);
  faultPoint('server:started');
  return { place, record, connection, wasStarted: true };
}

/** Gives a living server whose watchdog was killed a new one. */
export async function restoreWatchdog(
  request: Pick<EnsureServerRequest, 'way' | 'context' | 'times'>,
  { place, record }: RunningServer,
): Promise<void> {
  if (!record.server || observeWatchdog(record) !== 'dead') return;
  await using lock = await takeServerLock(place.dir, request.context);
  if (!lock) return;
  const { context, way, times } = request;
  const script = planWatchdogScript(times, way.record.turnMarks);
  await writeFileAtomic(serverFiles(place.dir).script, script, { mode: 0o700, durable: false });
  const env = createChildEnvironment({ config: context.config, added: {}, nonce: record.nonce });
  const args = [record.socketPath, 'attach', String(record.server.pid)];
  const watchdog = await spawnWatchdog(place.dir, env, args);
  await saveServerRecord(place.dir, { ...record, watchdog });
}

async function spawnWatchdog(
  dir: string,
  env: Readonly<Record<string, string>>,
  args: readonly string[],
): Promise<{ pid: number; startTime: string }> {
  const { pid, startTime = '' } = await spawnDetached({
    file: '/bin/sh',
    args: [serverFiles(dir).script, dir, ...args],
    env,
    workingDir: '/',
    stderrFile: serverFiles(dir).log,
  });
  return { pid, startTime };
}

async function awaitServer(
  request: EnsureServerRequest,
  { dir }: ServerPlace,
  record: ServerRecord,
): Promise<ServerConnection> {
  const { context, deadlineMs, signal } = request;
  try {
    return await waitUntil(
      async () => {
        if (observeWatchdog(record) === 'dead') throw exited(request, await readLog(dir));
        return existsSync(serverFiles(dir).pid) && (await connectOrNot(request, record));
      },
      { awaiting: 'the server to answer', deadlineMs, signal, intervalMs: 5, clock: context.clock },
    );
  } catch (error) {
    // Nobody knows of it yet: what was started is ended again.
    await endServerProcesses(record, { graceMs: 1_000, clock: context.clock });
    if (error instanceof TimedOutError) throw unresponsive(request, await readLog(dir));
    throw error;
  }
}

async function readServerPid(dir: string): Promise<{ pid: number; startTime: string }> {
  const text = await readFile(serverFiles(dir).pid, 'utf8');
  const [pid = '', startTime = ''] = text.trim().split(' ');
  return { pid: Number(pid), startTime };
}

async function truncateLog(dir: string): Promise<void> {
  const { log } = serverFiles(dir);
  await writeFileAtomic(log, '', { durable: false });
  await chmod(log, 0o600);
}

async function readLog(dir: string): Promise<string> {
  const log = await readFile(serverFiles(dir).log, 'utf8').catch(() => '');
  return log.trim().slice(-500);
}

function exited({ context }: EnsureServerRequest, log: string): CliUnusableError {
  return new CliUnusableError(context.binary, 'exited', `its server ended at once: ${log}`);
}

function unresponsive({ context }: EnsureServerRequest, why: string): CliUnusableError {
  return new CliUnusableError(context.binary, 'unresponsive', `its server does not answer: ${why}`);
}

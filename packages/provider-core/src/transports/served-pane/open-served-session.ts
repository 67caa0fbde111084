import { randomBytes } from 'node:crypto';
import { NonContinuableError, StaleHandleError } from '../../errors/continuation-error.js';
import {
  CliUnusableError,
  NativeHistoryMissingError,
  SessionBusyError,
} from '../../errors/turn-error.js';
import type { OpenedServedSession, ServedPane, SessionTrust } from '../../spec/served-pane.js';
import { ownIdentity } from '../../state/process-identity.js';
import { JsonRpcRefusal } from '../json-rpc/json-rpc-error.js';
import type { OpenRequest, OpenSession, SessionContext } from '../session-transport.js';
import { ensureServer, type RunningServer, restoreWatchdog } from './ensure-server.js';
import { findWriter } from './find-writer.js';
import { leaveOtherServers } from './leave-other-servers.js';
import { ServedSession } from './served-session.js';
import { readSessionMark, removeSessionMark, saveSessionMark } from './server-files.js';
import { planServerPlace } from './server-place.js';
import type { SessionMark } from './server-record.wire.js';
import { findShownPane } from './shown-pane.js';
import type { WatchdogTimes } from './watchdog-script.js';

/** What opening a session needs. */
export interface OpenParts {
  readonly way: ServedPane;
  readonly times: WatchdogTimes;
  readonly context: SessionContext;
  readonly request: OpenRequest;
}

/** Attaches to the session's server, or brings server and session back; the pane follows. */
export async function openServedSession(parts: OpenParts): Promise<OpenSession> {
  const { context } = parts;
  return context.nativeSessionId === undefined
    ? startSession(parts)
    : resumeSession(parts, context.nativeSessionId);
}

async function startSession(parts: OpenParts): Promise<OpenSession> {
  const { way, context, request } = parts;
  // The server is wanted before the id is known.
  const wanted = `starting-${randomBytes(6).toString('hex')}`;
  const { dir } = planServerPlace(way, context);
  let server: RunningServer | undefined;
  try {
    server = await reachServer(parts, {
      nativeSessionId: wanted,
      opener: { ...ownIdentity() },
    });
    const { trust } = await readOwnConfig(parts, server);
    const call = way.protocol.startSession({ config: context.config, trust });
    const result = await server.connection.call(call, callLimits(request));
    const opened = way.protocol.readOpenedSession(result);
    if (!opened) throw unreadableAnswer(context, call.method);
    await request.onNativeSession(opened.nativeSessionId);
    await saveSessionMark(server.place.dir, markOf(opened));
    await removeSessionMark(server.place.dir, wanted);
    return new ServedSession({
      ...parts,
      server,
      opened,
      trust,
      isFollowed: true,
      hasRecord: false,
      wasResumed: false,
      recovered: false,
    });
  } catch (error) {
    server?.connection[Symbol.dispose]();
    // Without its mark nobody wants the server: the watchdog ends it.
    await removeSessionMark(dir, wanted);
    throw error;
  }
}

async function resumeSession(parts: OpenParts, nativeSessionId: string): Promise<OpenSession> {
  const { way, context, request } = parts;
  const pane = findShownPane(way, context);
  await leaveOtherServers(parts, nativeSessionId);
  const { dir } = planServerPlace(way, context);
  const wasMarked = (await readSessionMark(dir, nativeSessionId)) !== undefined;
  let server: RunningServer | undefined;
  try {
    server = await reachServer(parts, { nativeSessionId });
    await restoreWatchdog(parts, server);
    const kept = findKept(parts, server, nativeSessionId);
    const wasLoaded =
      kept !== undefined ||
      (!server.wasStarted && (await isLoaded(parts, server, nativeSessionId)));
    // A loaded session keeps what it has.
    const { trust, ownConfig } = wasLoaded ? {} : await readOwnConfig(parts, server);
    const expectsPane = request.expectsLive && way.paneLaunch !== undefined;
    const isPaneLost = expectsPane && (await pane).state === 'absent';
    if (isPaneLost) request.emit({ type: 'lost_tmux' });
    const recovered = context.acknowledged && (!wasLoaded || isPaneLost);
    if (recovered) request.emit({ type: 'resuming' });
    const { opened, isFollowed } = kept
      ? { opened: kept, isFollowed: true }
      : await attachOrResume(parts, { server, trust, ownConfig, nativeSessionId });
    await keepMark(server.place.dir, markOf(opened));
    const found = await pane;
    return new ServedSession({
      ...parts,
      server,
      opened,
      trust,
      isFollowed,
      hasRecord: isFollowed,
      wasResumed: !wasLoaded,
      recovered,
      pane: found.state === 'present' ? found.pane : undefined,
    });
  } catch (error) {
    server?.connection[Symbol.dispose]();
    // A server that was wanted for this alone is not kept.
    if (!wasMarked) await removeSessionMark(dir, nativeSessionId);
    throw error;
  }
}

function reachServer(parts: OpenParts, wanted: SessionMark): Promise<RunningServer> {
  const { request } = parts;
  return ensureServer({
    ...parts,
    deadlineMs: request.deadlineMs,
    signal: request.signal,
    mark: async ({ dir }) => {
      const known = await readSessionMark(dir, wanted.nativeSessionId);
      if (!known) await saveSessionMark(dir, wanted);
    },
  });
}

interface OwnConfig {
  /** Absent where a person has decided already; else for this session alone, so that no configuration is written. */
  readonly trust?: SessionTrust;
  readonly ownConfig?: unknown;
}

async function readOwnConfig(
  { way, context, request }: OpenParts,
  { connection }: RunningServer,
): Promise<OwnConfig> {
  const { workingDir, trustWorkingDir } = context.config;
  const call = way.protocol.readConfig(workingDir);
  const ownConfig = await connection.call(call, callLimits(request));
  if (way.protocol.decidesTrust(ownConfig, workingDir)) return { ownConfig };
  return { ownConfig, trust: trustWorkingDir ? 'trusted' : 'untrusted' };
}

async function isLoaded(
  { way, request }: OpenParts,
  { connection }: RunningServer,
  nativeSessionId: string,
): Promise<boolean> {
  const result = await connection.call(way.protocol.listLoaded(), callLimits(request));
  return way.protocol.readLoaded(result).includes(nativeSessionId);
}

/**
 * A session without a pane that this process's connection serves already stays as it was opened: nobody types in it, and the
 * server tells whatever changes its settings or unloads it. It is not asked for again before each turn.
 */
function findKept(
  { way, context }: OpenParts,
  { connection, wasStarted }: RunningServer,
  nativeSessionId: string,
): OpenedServedSession | undefined {
  if (wasStarted || way.paneLaunch) return undefined;
  return connection.findServed(nativeSessionId, resumeCall(way, context, nativeSessionId));
}

/** Told apart by what the session is to be like; trust is decided once. */
function resumeCall(way: ServedPane, { config }: SessionContext, nativeSessionId: string) {
  return way.protocol.resumeSession({ config, nativeSessionId, trust: undefined });
}

interface AttachedSession {
  readonly opened: OpenedServedSession;
  /** Whether the server tells this connection what happens in the session. */
  readonly isFollowed: boolean;
}

interface AttachTarget {
  readonly server: RunningServer;
  readonly trust: SessionTrust;
  readonly ownConfig: unknown;
  readonly nativeSessionId: string;
}

async function attachOrResume(parts: OpenParts, target: AttachTarget): Promise<AttachedSession> {
  const { way, context, request } = parts;
  const { server, nativeSessionId, ...own } = target;
  try {
    const { config } = context;
    const call = way.protocol.resumeSession({ config, nativeSessionId, ...own });
    // What waits for an answer comes with the session, maybe before our listener stands.
    server.connection.expect(nativeSessionId);
    const result = await server.connection.call(call, callLimits(request));
    const opened = way.protocol.readOpenedSession(result);
    if (!opened) throw unreadableAnswer(context, call.method);
    if (opened.nativeSessionId !== nativeSessionId) throw otherSession(context, opened);
    server.connection.keepServed(opened, resumeCall(way, context, nativeSessionId));
    return { opened, isFollowed: true };
  } catch (error) {
    if (!(error instanceof JsonRpcRefusal)) throw error;
    return afterRefusal(parts, target, error);
  }
}

async function afterRefusal(
  parts: OpenParts,
  target: AttachTarget,
  refusal: JsonRpcRefusal,
): Promise<AttachedSession> {
  const { way, context } = parts;
  const { server, nativeSessionId } = target;
  const mark = await readSessionMark(server.place.dir, nativeSessionId);
  const { code, reason: message, data } = refusal;
  switch (way.protocol.readRefusal({ code, message, data })) {
    case 'held_elsewhere': {
      const writer = await findWriter(way, context);
      throw new SessionBusyError({ kind: 'foreign', pid: writer?.pid });
    }
    case 'provider_missing':
      throw new NonContinuableError(context.definition.id, 'provider', message);
    case 'archived':
      if (!mark?.unloading) {
        throw new NonContinuableError(context.definition.id, 'history', 'it was archived');
      }
      await server.connection.call(
        way.protocol.unarchive(nativeSessionId),
        callLimits(parts.request),
      );
      await saveSessionMark(server.place.dir, { ...mark, unloading: undefined });
      return attachOrResume(parts, target);
    case 'no_record':
      // It is loaded, but never had a turn: it takes a message, and tells of it once there is a record.
      if (mark && (await isLoaded(parts, server, nativeSessionId))) {
        return { opened: { ...mark, activity: 'idle' }, isFollowed: false };
      }
      await removeSessionMark(server.place.dir, nativeSessionId);
      if (!context.acknowledged)
        throw new StaleHandleError(context.definition.id, 'native_session_id');
      throw new NativeHistoryMissingError(nativeSessionId, refusal.reason);
    default:
      throw new CliUnusableError(
        context.binary,
        'unresponsive',
        `it does not resume session ${nativeSessionId}: ${refusal.reason}. Nothing was sent.`,
      );
  }
}

function callLimits({ deadlineMs, signal, fence }: OpenRequest) {
  const guard = () => {
    if (!fence.isCurrent()) throw new SessionBusyError({ kind: 'ours' });
  };
  return { deadlineMs, signal, guard };
}

/** Written only where it says something new: each write is one to the disk. */
async function keepMark(dir: string, mark: SessionMark): Promise<void> {
  const known = await readSessionMark(dir, mark.nativeSessionId);
  if (JSON.stringify(known) !== JSON.stringify(mark)) await saveSessionMark(dir, mark);
}

function markOf({ activity: _, ...opened }: OpenedServedSession) {
  return opened;
}

function unreadableAnswer({ binary }: SessionContext, method: string): CliUnusableError {
  return new CliUnusableError(binary, 'unresponsive', `its answer to ${method} cannot be read`);
}

function otherSession(
  { definition, nativeSessionId }: SessionContext,
  opened: OpenedServedSession,
) {
  return new StaleHandleError(definition.id, 'native_session_id', {
    old: nativeSessionId,
    new: opened.nativeSessionId,
  });
}

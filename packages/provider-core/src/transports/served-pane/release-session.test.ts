import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { silentLogger } from '../../spec/logger.js';
import type { ServedPane } from '../../spec/served-pane.js';
import { systemClock } from '../../time/clock.js';
import type { SessionContext } from '../session-transport.js';
import { ensureServer, type RunningServer } from './ensure-server.js';
import { interruptSession } from './interrupt-session.js';
import { releaseSession } from './release-session.js';
import { listSessionMarks, saveSessionMark } from './server-files.js';
import { endServerProcesses, observeServer, observeWatchdog } from './server-process.js';

const script = fileURLToPath(new URL('__fixtures__/stand-in-server.mjs', import.meta.url));
const SLOW = { lookSeconds: 1, idleSeconds: 3_600, startSeconds: 3_600 };
const call = () => ({ method: 'never answered', params: {} });

// The stand-in answers `initialize` and nothing else: it hangs in every call a session makes.
const way = {
  kind: 'served_pane',
  serverLaunch: ({ socketPath }: { readonly socketPath: string }) => ({
    args: [script, socketPath],
    env: {},
  }),
  protocol: {
    initialize: () => ({ method: 'initialize', params: {} }),
    initialized: { method: 'initialized', params: undefined },
    readServer: () => ({ version: '1.0.0' }),
    listTurns: call,
    listQueue: call,
    readFrame: () => ({ events: [] }),
  },
  record: { turnMarks: { begin: 'begin', end: ['end'] } },
} as unknown as ServedPane;

let root: string;
let server: RunningServer;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'hf-'));
  server = await ensureServer({
    way,
    context: contextOf(),
    times: SLOW,
    deadlineMs: 20_000,
    mark: ({ dir }) => saveSessionMark(dir, { nativeSessionId: 'a' }),
  });
});

afterEach(async () => {
  server.connection[Symbol.dispose]();
  await endServerProcesses(server.record, { graceMs: 1_000, clock: systemClock });
  await rm(root, { recursive: true, force: true });
});

describe('a server that hangs', () => {
  it.each(['only', 'one of two'])('is ended with the %s session that is closed', async (which) => {
    const { dir } = server.place;
    if (which === 'one of two') await saveSessionMark(dir, { nativeSessionId: 'b' });

    const report = await release();

    expect(report.left).toEqual([]);
    expect(observeServer(server.record)).toBe('dead');
    expect(await listSessionMarks(dir)).toEqual(which === 'only' ? [] : ['b']);
  });

  it('and was stopped by a signal is ended too, with its watchdog', async () => {
    process.kill(server.record.server?.pid ?? 0, 'SIGSTOP');

    const report = await release();

    expect(report.left).toEqual([]);
    expect([observeServer(server.record), observeWatchdog(server.record)]).toEqual([
      'dead',
      'dead',
    ]);
  });

  it('is ended by an interrupt at its deadline', async () => {
    process.kill(server.record.server?.pid ?? 0, 'SIGSTOP');

    await interrupt(true);

    expect(observeServer(server.record)).toBe('dead');
  });

  it('is left alone by an interrupt of who has lost the session', async () => {
    await expect(interrupt(false)).rejects.toMatchObject({ why: 'deadline' });

    expect(observeServer(server.record)).toBe('alive');
  });
});

function interrupt(isOurs: boolean): Promise<void> {
  return interruptSession({
    way,
    context: contextOf(),
    server,
    opened: { nativeSessionId: 'a' },
    runningTurnId: 'turn',
    submitted: new Set(['turn']),
    calls: new Set(),
    deadlineMs: 300,
    isOurs: () => isOurs,
  });
}

function release() {
  const { dir } = server.place;
  return releaseSession({ way, context: contextOf(), dir, nativeSessionId: 'a', deadlineMs: 300 });
}

function contextOf(): SessionContext {
  return {
    binary: process.execPath,
    cliVersion: '1.0.0',
    cliHome: join(root, 'home'),
    config: { workingDir: root },
    definition: { displayName: 'Stand-in' },
    stateDir: join(root, 'state'),
    tmuxSocket: join(root, 't.sock'),
    clock: systemClock,
    logger: silentLogger,
  } as unknown as SessionContext;
}

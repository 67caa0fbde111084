import { appendFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { silentLogger } from '../../spec/logger.js';
import type { ServedPane } from '../../spec/served-pane.js';
import { setFaultHook } from '../../state/fault-point.js';
import { findProcessesByEnvironment } from '../../state/process-tree.js';
import { systemClock } from '../../time/clock.js';
import { waitUntil } from '../../time/wait-until.js';
import type { SessionContext } from '../session-transport.js';
import { closeIdleConnections } from './connect-to-server.js';
import { ensureServer, type RunningServer, restoreWatchdog } from './ensure-server.js';
import {
  listServerDirs,
  readServerRecord,
  removeSessionMark,
  saveSessionMark,
} from './server-files.js';
import { endServerProcesses, observeServer, observeWatchdog } from './server-process.js';
import type { ServerRecord } from './server-record.wire.js';
import { stopUnwantedServer } from './stop-server.js';

const script = fileURLToPath(new URL('__fixtures__/stand-in-server.mjs', import.meta.url));
const BEGIN = '"turn":"begin"';
const END = '"turn":"end"';
const QUICK = { lookSeconds: 1, idleSeconds: 1, startSeconds: 8 };
const SLOW = { lookSeconds: 1, idleSeconds: 3_600, startSeconds: 3_600 };

const way = {
  kind: 'served_pane',
  serverLaunch: ({ socketPath }: { readonly socketPath: string }) => ({
    args: [script, socketPath],
    env: {},
  }),
  protocol: {
    initialize: () => ({ method: 'initialize', params: {} }),
    initialized: { method: 'initialized', params: undefined },
    readServer: (result: { readonly version: string }) => ({ version: result.version }),
    readFrame: () => ({ events: [] }),
    declineRequest: () => undefined,
  },
  record: { turnMarks: { begin: BEGIN, end: [END] } },
} as unknown as ServedPane;

let root: string;
let started: RunningServer[];

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'hf-'));
  started = [];
});

afterEach(async () => {
  setFaultHook(undefined);
  for (const { connection, record, place } of started) {
    connection[Symbol.dispose]();
    const latest = (await readServerRecord(place.dir)) ?? record;
    for (const each of [record, latest]) {
      await endServerProcesses(each, { graceMs: 1_000, clock: systemClock });
    }
  }
  await rm(root, { recursive: true, force: true });
});

describe('a server of our own', () => {
  it('is started once however many ask for it at the same time', async () => {
    const servers = await Promise.all(['a', 'b', 'c', 'd'].map((id) => ensure(id)));

    expect(new Set(servers.map(({ record }) => record.server?.pid)).size).toBe(1);
    expect(servers.filter(({ wasStarted }) => wasStarted)).toHaveLength(1);
  });

  it.each(['server:planned', 'server:spawned', 'server:started'])(
    'that was left at %s is found or ended, never doubled',
    async (step) => {
      setFaultHook((reached) => {
        if (reached === step) throw new Error('crash');
      });
      await expect(ensure('a')).rejects.toThrow('crash');
      setFaultHook(undefined);
      const left = await readServerRecord(await onlyDir());

      const server = await ensure('a');

      const isAdopted = server.record.nonce === left?.nonce;
      const remains = isAdopted
        ? []
        : findProcessesByEnvironment('HOLDFAST_NONCE', `${left?.nonce}`);
      expect(remains).toEqual([]);
      expect(isAdopted).toBe(step === 'server:started');
    },
  );

  it('is another one where the environment differs', async () => {
    const one = await ensure('a');
    const other = await ensure('b', { env: { EXTRA: '1' } });

    expect(other.place.dir).not.toBe(one.place.dir);
    expect(other.record.server?.pid).not.toBe(one.record.server?.pid);
  });

  it('that does not start says why', async () => {
    const broken = { ...way, serverLaunch: () => ({ args: ['-e', 'throw "no luck"'], env: {} }) };

    await expect(ensure('a', {}, broken)).rejects.toMatchObject({
      kind: 'cli_unusable',
      reason: 'exited',
    });
  });

  it('is stopped with its watchdog once no session is marked, and kept before', async () => {
    const { record, place, connection } = await ensure('a');
    connection[Symbol.dispose]();

    expect(await stopUnwantedServer(place.dir, { clock: systemClock }, 5_000)).toMatchObject({
      ended: 0,
    });
    expect(observeServer(record)).toBe('alive');
    await removeSessionMark(place.dir, 'a');
    const report = await stopUnwantedServer(place.dir, { clock: systemClock }, 5_000);

    expect(report.left).toEqual([]);
    expect([observeServer(record), observeWatchdog(record)]).toEqual(['dead', 'dead']);
  });
});

describe('the watchdog', () => {
  it('stops the server when its last session was closed, and ends itself', async () => {
    const { record, place } = await ensure('a');
    await removeSessionMark(place.dir, 'a');

    await untilDead(record);
  });

  it('stops a server that nobody uses, and not one with a client or an open turn', async () => {
    const unused = await ensure('unused', { env: { NAME: 'unused' } }, way, QUICK);
    const withClient = await ensure('client', { env: { NAME: 'client' } }, way, QUICK);
    const inTurn = await ensure('turn', { env: { NAME: 'turn' } }, way, QUICK);
    const recordPath = join(root, 'record.jsonl');
    await writeFile(recordPath, `{${BEGIN}}\n{${END}}\n{${BEGIN}}\n`);
    await saveSessionMark(inTurn.place.dir, { nativeSessionId: 'turn', recordPath });
    inTurn.connection[Symbol.dispose]();
    unused.connection[Symbol.dispose]();
    await closeIdleConnections();

    await untilDead(unused.record);
    // They were started before and looked at as often.
    expect([observeServer(withClient.record), observeServer(inTurn.record)]).toEqual([
      'alive',
      'alive',
    ]);
    await appendFile(recordPath, `{${END}}\n`);
    withClient.connection[Symbol.dispose]();
    await closeIdleConnections();
    await Promise.all([untilDead(inTurn.record), untilDead(withClient.record)]);
  });

  it('stops a server whose folder was removed', async () => {
    const { record, place } = await ensure('a');
    await rm(place.dir, { recursive: true, force: true });

    await untilDead(record);
  });

  it('that was killed is replaced by one that does the same', async () => {
    const server = await ensure('a');
    process.kill(server.record.watchdog?.pid ?? 0, 'SIGKILL');
    await until(() => observeWatchdog(server.record) === 'dead');
    expect(observeServer(server.record)).toBe('alive');

    await restoreWatchdog({ way, context: contextOf({}), times: SLOW }, server);
    await removeSessionMark(server.place.dir, 'a');

    await untilDead(server.record);
  });

  it('ends when its server is killed', async () => {
    const { record } = await ensure('a');
    process.kill(record.server?.pid ?? 0, 'SIGKILL');

    await untilDead(record);
  });
});

async function ensure(
  id: string,
  config: Partial<SessionContext['config']> = {},
  served: ServedPane = way,
  times = SLOW,
): Promise<RunningServer> {
  const server = await ensureServer({
    way: served,
    context: contextOf(config),
    times,
    deadlineMs: 20_000,
    mark: ({ dir }) => saveSessionMark(dir, { nativeSessionId: id }),
  });
  started.push(server);
  return server;
}

function contextOf(config: Partial<SessionContext['config']>): SessionContext {
  return {
    definition: { displayName: 'stand-in' },
    config: { workingDir: root, ...config },
    binary: process.execPath,
    cliVersion: '1.0.0',
    cliHome: root,
    stateDir: root,
    tmuxSocket: join(root, 't.s'),
    clock: systemClock,
    logger: silentLogger,
  } as unknown as SessionContext;
}

async function onlyDir(): Promise<string> {
  const [dir = ''] = await listServerDirs(root);
  return dir;
}

async function untilDead(record: ServerRecord): Promise<void> {
  await until(() => observeServer(record) === 'dead' && observeWatchdog(record) === 'dead');
}

async function until(probe: () => boolean): Promise<void> {
  await waitUntil(probe, { awaiting: 'the end', deadlineMs: 45_000 });
}

import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { silentLogger } from '../../spec/logger.js';
import type { StreamProcess } from '../../spec/stream-process.js';
import type { TypedPane } from '../../spec/typed-pane.js';
import { endProcesses, findProcessesByEnvironment } from '../../state/process-tree.js';
import { systemClock } from '../../time/clock.js';
import type { OpenSession, SessionContext } from '../session-transport.js';
import { observeSession } from '../typed-pane/observe-session.js';
import { endStreamSession } from './end-session.js';
import { observeStream } from './observe-stream.js';
import { openStreamSession } from './open-stream-session.js';

const script = fileURLToPath(new URL('__fixtures__/stand-in-stream.mjs', import.meta.url));
const SESSION = 'session-1';

let root: string;
let context: SessionContext;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "hf stream's-"));
  context = {
    definition: { id: 'stand-in' },
    config: { workingDir: root },
    binary: process.execPath,
    cliHome: join(root, 'home'),
    nativeSessionId: SESSION,
    filesDir: join(root, 'stream'),
    nonce: crypto.randomUUID(),
    acknowledged: false,
    clock: systemClock,
    logger: silentLogger,
  } as unknown as SessionContext;
});
afterEach(async () => {
  await endProcesses(ownProcesses(), { graceMs: 0 });
  await rm(root, { recursive: true, force: true });
});

describe('a stream process', () => {
  it('is gone on with, and outlives who let go of it', async () => {
    await (await openWith('answers'))[Symbol.asyncDispose]();
    const [first] = ownProcesses();
    expect(first).toBeDefined();

    await openWith('answers');

    expect(ownProcesses()).toEqual([first]);
  });

  it.each(['input', 'output.jsonl'])(
    'that lost its %s is ended, and one is started',
    async (name) => {
      await openWith('answers');
      const [first] = ownProcesses();
      await rm(join(context.filesDir, name));

      await openWith('answers');

      expect(ownProcesses()).toHaveLength(1);
      expect(ownProcesses()).not.toEqual([first]);
    },
  );

  it('that runs no hook yet is not gone on with', async () => {
    await openWith('answers');
    const [first] = ownProcesses();
    await rm(join(context.filesDir, 'sign'));

    await openWith('answers');

    expect(ownProcesses()).not.toEqual([first]);
  });

  it('that runs no hooks is ended, and leaves no word that somebody answers', async () => {
    // Its patience runs out twenty times as fast.
    const clock = { ...systemClock, monotonicMs: () => 20 * systemClock.monotonicMs() };
    context = { ...context, clock };
    const opening = openWith('no hooks');
    await expect(opening).rejects.toMatchObject({ kind: 'cli_unusable', reason: 'unresponsive' });

    expect(ownProcesses()).toEqual([]);
    expect(await readdir(context.filesDir)).not.toContain('approver');
  });

  it('is no pane’s process that has lost its pane', async () => {
    await openWith('answers');
    const pane = { ...wayThat('answers'), kind: 'typed_pane' } as unknown as TypedPane;
    const plain = { ...context, filesDir: root, tmuxSocket: join(root, 'none.s') };

    expect(await observeStream(wayThat('answers'), context)).toMatchObject({ state: 'alive' });
    expect(await observeSession(pane, plain)).toEqual({ state: 'gone' });
  });

  it('behind a launcher is the one that its list names, and both end', async () => {
    const launcher = ['/bin/sh', '-c', '"$@"; exit $?', 'sh'];
    context = { ...context, config: { ...context.config, launcher } };
    await openWith('answers');
    const [first] = await readdir(join(context.cliHome, 'sessions'));
    const seen = await observeStream(wayThat('answers'), context);

    expect(seen).toMatchObject({ state: 'alive', pid: Number.parseInt(first ?? '', 10) });
    expect(ownProcesses()).toHaveLength(2);

    const open = await openWith('answers');
    expect(open.recovered).toBe(false);
    expect(ownProcesses()).toHaveLength(2);

    const ended = await endStreamSession(wayThat('answers'), context, {
      archive: false,
      deadlineMs: 10_000,
    });
    expect(ended.left).toEqual([]);
    expect(ownProcesses()).toEqual([]);
  });

  it('whose launcher was never seen to start a CLI is ended, and one is started', async () => {
    await openWith('answers');
    const [first] = ownProcesses();
    await rm(join(context.cliHome, 'sessions', `${first?.pid}.json`));
    context = { ...context, config: { ...context.config, launcher: ['/usr/bin/env'] } };

    await openWith('answers');

    expect(ownProcesses()).toHaveLength(1);
    expect(ownProcesses()).not.toEqual([first]);
  });

  it('is neither ended nor started by who lost the lease', async () => {
    await openWith('answers');
    const [first] = ownProcesses();
    await rm(join(context.filesDir, 'input'));
    let looks = 0;

    // Lost while it was being opened.
    const opening = openWith('answers', () => looks++ === 0);

    await expect(opening).rejects.toMatchObject({ kind: 'session_busy' });
    expect(ownProcesses()).toEqual([first]);
  });
});

function wayThat(mode: string): StreamProcess {
  return {
    kind: 'stream_process',
    launch: ({ cliHome, filesDir }: SessionContext) => ({
      args: [script, mode, cliHome, filesDir, SESSION],
      env: {},
      files: [],
    }),
    files: {
      record: () => 'projects/*/record.jsonl',
      registryFolder: 'sessions',
      startSign: 'sign',
    },
    approvals: { approverFile: 'approver', approvalsFolder: 'approvals' },
    readRegistry: (value: { session: string } | undefined) =>
      value && { nativeSessionId: value.session, activity: 'idle' },
    readMissingHistory: () => undefined,
    readFrame: (value: unknown) => [value],
  } as unknown as StreamProcess;
}

function openWith(mode: string, isCurrent = () => true): Promise<OpenSession> {
  return openStreamSession(wayThat(mode), context, {
    fence: { token: 1, isCurrent },
    finishInterruptedTurn: false,
    emit: () => {},
    expectsLive: false,
    onNativeSession: async () => {},
    deadlineMs: 400_000,
    signal: new AbortController().signal,
    answersRequests: true,
  });
}

function ownProcesses() {
  return findProcessesByEnvironment('HOLDFAST_NONCE', context.nonce);
}

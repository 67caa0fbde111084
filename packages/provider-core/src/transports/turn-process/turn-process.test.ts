import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { silentLogger } from '../../spec/logger.js';
import type { ImagePart } from '../../spec/turn.js';
import type { TurnProcess } from '../../spec/turn-process.js';
import { setFaultHook } from '../../state/fault-point.js';
import { endProcesses, findProcessesByEnvironment } from '../../state/process-tree.js';
import { systemClock } from '../../time/clock.js';
import type { FollowedEvent, OpenSession, SessionContext } from '../session-transport.js';
import { readProcessRecord } from './process-record.js';
import { createTurnProcessTransport } from './turn-process-transport.js';

const script = fileURLToPath(new URL('__fixtures__/stand-in-turn.mjs', import.meta.url));
const SESSION = 'session-1';

let root: string;
let context: SessionContext;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'hf-'));
  await writeFile(recordPath(), '');
  context = {
    definition: { id: 'stand-in' },
    config: { workingDir: root, toolPolicy: { permissions: 'read_only' } },
    binary: process.execPath,
    cliHome: root,
    nativeSessionId: SESSION,
    filesDir: root,
    nonce: crypto.randomUUID(),
    acknowledged: true,
    clock: systemClock,
    logger: silentLogger,
  } as unknown as SessionContext;
});

afterEach(async () => {
  setFaultHook(undefined);
  await endProcesses(ownProcesses(), { graceMs: 0 });
  await rm(root, { recursive: true, force: true });
});

describe('a process for one turn', () => {
  it('reads the message from its input, is followed in its record, and leaves nothing behind', async () => {
    const open = await openWith('answers');
    await submit(open, 'a\0b\r\n');

    const events = await followed(open, (event) => event.type === 'turn_ended');
    await open[Symbol.asyncDispose]();

    expect(events.at(-1)).toMatchObject({ event: { answer: 'Heard: a\0b\r\n' }, durable: true });
    expect(await readProcessRecord(root)).toBeUndefined();
    expect(ownProcesses()).toEqual([]);
    expect((await openWith('answers')).recovered).toBe(false);
  });

  it('takes the images of its message away with it', async () => {
    const open = await openWith('answers');
    const images = [{ type: 'image', mediaType: 'image/png', data: 'aGk=' } as const];
    await submit(open, 'look', images);
    const isImage = (name: string) => name.endsWith('.png');
    expect((await readdir(root)).filter(isImage)).toHaveLength(1);

    await followed(open, (event) => event.type === 'turn_ended');
    await open[Symbol.asyncDispose]();

    expect((await readdir(root)).filter(isImage)).toEqual([]);
  });

  it('is seen while it runs, and is no loss between turns', async () => {
    const transport = createTurnProcessTransport(wayThat('waits'));
    expect(await transport.observe(context)).toEqual({ state: 'gone' });
    const open = await openWith('waits');
    await submit(open);

    expect(await transport.observe(context)).toMatchObject({ state: 'alive', activity: 'busy' });
    expect(await open.activity()).toBe('busy');
    await transport.end(context, { archive: false, deadlineMs: 1_000 });

    expect(await transport.observe(context)).toEqual({ state: 'gone' });
    expect(ownProcesses()).toEqual([]);
  });

  it('that was started, but whose pid was not written down, is found by its launch', async () => {
    const open = await openWith('waits');
    setFaultHook((step) => {
      if (step === 'turn-process:spawned') throw new Error('crash');
    });
    await expect(submit(open)).rejects.toThrow('crash');
    setFaultHook(undefined);

    const again = await openWith('waits');
    expect((await readProcessRecord(root))?.process).toBeUndefined();
    expect(await again.activity()).toBe('busy');
    // Node takes the signal for its end once it has started up.
    await again.interrupt({ deadlineMs: 10_000, turnId: 'turn' });

    expect(await again.activity()).toBe('idle');
  });

  it('that is killed in mid-turn is told as lost, and its session as recovered', async () => {
    const open = await openWith('waits');
    await submit(open);
    await followed(open, (event) => event.type === 'message_accepted');
    await endProcesses(ownProcesses(), { graceMs: 0 });

    const [last] = (await followed(open, () => false)).slice(-1);

    expect(last).toMatchObject({ kind: 'transport_lost' });
    expect((await openWith('answers')).recovered).toBe(true);
  });

  it('that gives up says why, in its own words', async () => {
    const open = await openWith('gives up');
    await submit(open);

    await expect(followed(open, () => false)).rejects.toMatchObject({
      kind: 'cli_unusable',
      message: expect.stringContaining('no luck'),
    });
  });

  it('B14: that ends before its session in words nobody knows is not taken for lost', async () => {
    const open = await openWith('ends oddly');
    await submit(open);

    await expect(followed(open, () => false)).rejects.toMatchObject({
      kind: 'cli_unusable',
      message: expect.stringContaining('The moon is in the wrong house.'),
    });
  });

  it('that is killed before its session, with a notice alone, is told as lost', async () => {
    const open = await openWith('is killed early');
    await submit(open);

    const [last] = (await followed(open, () => false)).slice(-1);

    expect(last).toMatchObject({ kind: 'transport_lost' });
  });

  it('that opens another session than the one asked for is ended', async () => {
    const open = await openWith('other');
    await submit(open);

    const events = await followed(open, () => false);

    expect(events).toContainEqual({ kind: 'identity_changed', nativeSessionId: 'another' });
    expect(ownProcesses()).toEqual([]);
  });

  it('B115: whose own record calls it looser than its session is ended at once', async () => {
    const open = await openWith('looser');
    await submit(open);

    await expect(followed(open, () => false)).rejects.toMatchObject({
      kind: 'stale_handle',
      changedField: 'tool_policy',
    });
    expect(ownProcesses()).toEqual([]);
  });

  it('that does not heed an interrupt is ended at its deadline', async () => {
    const open = await openWith('stubborn');
    await submit(open);
    await followed(open, (event) => event.type === 'message_accepted');

    await open.interrupt({ deadlineMs: 200, turnId: 'turn' });

    expect(ownProcesses()).toEqual([]);
  });

  it('is not started for who has lost the lease', async () => {
    const open = await openWith('answers', { isCurrent: () => false });

    await expect(submit(open)).rejects.toMatchObject({ kind: 'session_busy' });
    expect(ownProcesses()).toEqual([]);
  });

  it('is neither interrupted nor put away by who has lost the lease', async () => {
    let isCurrent = true;
    const open = await openWith('waits', { isCurrent: () => isCurrent });
    await submit(open);
    isCurrent = false;

    const interrupted = open.interrupt({ deadlineMs: 1_000, turnId: 'turn' });
    await expect(interrupted).rejects.toMatchObject({ kind: 'session_busy' });
    await open[Symbol.asyncDispose]();

    expect(ownProcesses()).toHaveLength(1);
    expect(await readProcessRecord(root)).toBeDefined();
  });
});

function wayThat(mode: string): TurnProcess {
  return {
    kind: 'turn_process',
    turnLaunch: () => ({ args: [script, mode, recordPath(), SESSION], env: {}, homeFiles: [] }),
    encodeMessage: (text: string) => text,
    record: {
      folders: () => [{ path: '.', depth: 0 }],
      isRecord: (name: string) => name === 'record.jsonl',
      isForeignForm: () => false,
      createReader: () => ({
        read: (line: { event?: unknown } | undefined) => (line?.event ? [line.event] : []),
        lastRecordId: () => undefined,
      }),
    },
    readSettings: (line: { settings?: unknown } | undefined) => line?.settings,
    readOpened: (line: { opened?: unknown } | undefined) => line?.opened,
    isNotice: (line: string) => line.startsWith('Notice'),
    readGivenUp: (errors: string) =>
      errors.includes('luck') ? { reason: 'other', detail: errors.trim() } : undefined,
  } as unknown as TurnProcess;
}

function openWith(mode: string, fence: { isCurrent?: () => boolean } = {}): Promise<OpenSession> {
  return createTurnProcessTransport(wayThat(mode)).open(context, {
    fence: { token: 1, isCurrent: () => true, ...fence },
    finishInterruptedTurn: false,
    emit: () => {},
    expectsLive: false,
    onNativeSession: async () => {},
    deadlineMs: 10_000,
    signal: new AbortController().signal,
    answersRequests: false,
  });
}

async function submit(
  open: OpenSession,
  text = 'hello',
  images: readonly ImagePart[] = [],
): Promise<void> {
  await open.submit({
    text,
    images,
    turnId: 'turn',
    cursor: { path: recordPath(), length: 0 },
    mayStandInComposer: false,
    draft: 'keep',
    signal: new AbortController().signal,
  });
}

/** What is told until an event is `last`, or until the process is lost. */
async function followed(
  open: OpenSession,
  isLast: (event: Extract<FollowedEvent, { kind: 'record' }>['event']) => boolean,
): Promise<FollowedEvent[]> {
  const stop = new AbortController();
  const events: FollowedEvent[] = [];
  for await (const event of open.follow({ path: recordPath(), length: 0 }, stop.signal)) {
    events.push(event);
    if (event.kind === 'record' ? isLast(event.event) : event.kind === 'transport_lost') break;
  }
  stop.abort();
  return events;
}

function ownProcesses() {
  return findProcessesByEnvironment('HOLDFAST_NONCE', context.nonce);
}

function recordPath(): string {
  return join(root, 'record.jsonl');
}

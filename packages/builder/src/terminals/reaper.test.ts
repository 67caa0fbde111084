import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Clock, isoInstant, systemClock } from '@holdfast/agent';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { MemorySessions } from '../__fixtures__/memory-sessions.js';
import type { AgentContext } from '../agents.js';
import { type StartedChats, startChats } from '../chat/__fixtures__/start-chats.js';
import { type ExecutionKey, executionIdOf } from '../executions/execution-key.js';
import { keys } from '../persistence/keys.js';
import type { ContinuationState, ExecutionOutcome } from '../workflow/continuation-state.js';
import { writeContinuationState } from '../workflow/continuation-state-file.js';
import { keepSession } from './keep-session.js';
import { createReaper } from './reaper.js';
import { createTerminalOwners } from './terminal-owners.js';
import { createTerminals } from './terminals.js';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

let root = '';
let sessions = new MemorySessions();
let passed = 0;
const clock: Clock = { ...systemClock, now: () => systemClock.now() + passed };

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'holdfast-reaper-'));
  sessions = new MemorySessions();
  sessions.screen = 'nothing yet';
  passed = 0;
});
afterEach(() => rm(root, { recursive: true, force: true, maxRetries: 5 }));

const start = () => startChats({ dir: root, sessions, clock });

const reaperOf = ({ context }: StartedChats, { knowsAgents = true } = {}) =>
  createReaper({
    store: context.store,
    agents: { ...context.agents, has: (id) => knowsAgents && context.agents.has(id) },
    owners: createTerminalOwners(context),
    clock,
  });

const statuses = () => [...sessions.world.sessions.values()].map(({ status }) => status);

describe('a chat', () => {
  it('keeps its processes until nobody used it for hours, and its last screen for half an hour', async () => {
    const started = await start();
    const reaper = reaperOf(started);
    const terminals = createTerminals(started.context);
    const chat = await started.chats.open({ chatId: 'chat-1', agent: 'coder' });
    sessions.screen = 'the answer stands here';
    await chat.send('one');
    const [terminal] = (await terminals.get('chat-1')).terminals;
    const terminalId = terminal?.terminalId ?? '';
    expect(await terminals.get('chat-1')).toMatchObject({
      policy: 'persistent',
      processState: 'live',
      terminals: [{ state: 'current', capturedAt: expect.any(String) }],
    });
    expect(await terminals.snapshot(terminalId)).toMatchObject({
      ownerId: 'chat-1',
      content: 'the answer stands here',
      snapshotKind: 'live',
    });

    passed = 3 * HOUR - MINUTE;
    expect(await reaper.sweep()).toEqual({ closed: [], left: [] });
    passed = 3 * HOUR;
    expect(await reaper.sweep()).toMatchObject({
      closed: [{ ownerId: 'chat-1', sessionId: 'chat-1', reason: 'idle' }],
      left: [],
    });
    expect(statuses()).toEqual(['closed']);
    expect(await terminals.get('chat-1')).toMatchObject({
      processState: 'closed',
      closeReason: 'idle',
      terminals: [{ state: 'previous', closesAt: expect.any(String) }],
    });
    expect(await terminals.snapshot(terminalId)).toMatchObject({ snapshotKind: 'archived' });
    expect(await terminals.list()).toHaveLength(1);

    passed += 29 * MINUTE;
    await reaper.sweep();
    expect(await terminals.snapshot(terminalId)).toBeDefined();
    passed += 2 * MINUTE;
    expect(await reaper.sweep()).toEqual({ closed: [], left: [] });
    expect(await terminals.snapshot(terminalId)).toBeUndefined();
    expect(await readdir(join(root, 'data/terminals'))).toEqual([]);
    expect(await readdir(join(root, 'data/terminal-snapshots'))).toEqual([]);

    expect((await chat.send('two')).answer).toBe('answer to two');
    expect(sessions.world.sessions.size).toBe(1);
  });

  it('is left alone while its turn runs or messages wait, whatever its terminal shows and however long', async () => {
    const started = await start();
    const reaper = reaperOf(started);
    const chat = await started.chats.open({ chatId: 'chat-1', agent: 'coder' });
    await chat.send('one');
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    sessions.onStep = (step) => (step === 'accepted' ? held : undefined);
    sessions.screen = 'COMPLETED. All is done, nothing is left to do.';
    await chat.post('two', { policy: 'fail' });
    passed = 1_000 * HOUR;
    expect(await reaper.sweep()).toEqual({ closed: [], left: [] });
    expect(statuses()).toEqual(['idle']);
    release();
    await chat.send('three', { whenBusy: 'wait' });
    expect((await chat.view()).turns.map(({ state }) => state)).toEqual([
      'completed',
      'completed',
      'completed',
    ]);
  });

  it('loses the text of a terminal that is dismissed, and nothing else', async () => {
    const started = await start();
    const terminals = createTerminals(started.context);
    const chat = await started.chats.open({ chatId: 'chat-1', agent: 'coder' });
    await chat.send('one');
    const [session] = sessions.world.sessions.values();
    if (session) session.terminal = 2;
    await chat.send('two');
    const [first, second] = (await terminals.get('chat-1')).terminals;
    expect(await terminals.snapshot(first?.terminalId ?? '')).toMatchObject({
      snapshotKind: 'archived',
    });
    await terminals.dismiss(first?.terminalId ?? '');
    expect(await terminals.snapshot(first?.terminalId ?? '')).toBeUndefined();
    expect(await terminals.snapshot(second?.terminalId ?? '')).toMatchObject({
      snapshotKind: 'live',
    });
    expect((await terminals.get('chat-1')).terminals).toHaveLength(2);
    expect(statuses()).toEqual(['idle']);
  });
});

const key: ExecutionKey = { iteration: '1', group: 'main', step: 'draft' };
const executionId = executionIdOf(key);

async function writeState({ context }: StartedChats, outcome: ExecutionOutcome): Promise<void> {
  const at = isoInstant(clock);
  const { lease } = await context.store.acquire(keys.executionLease(key));
  if (!lease) throw new Error('unreachable: nobody else has it');
  await using _held = lease;
  const state: ContinuationState = {
    schemaVersion: 2,
    runFolder: '1/main',
    stepId: 'draft',
    ownerKind: 'workflow_step',
    phases: {},
    updatedAt: at,
    executionId,
    agent: 'coder',
    createdAt: at,
    outcome,
    terminals: [],
  };
  await writeContinuationState(context.store, key, state, lease);
}

/** An execution whose session was just used. */
async function runExecution(started: StartedChats): Promise<void> {
  await writeState(started, 'open');
  const agentContext: AgentContext = {
    agent: 'coder',
    executionId,
    sessionId: executionId,
    scope: 'workflow_step',
    correlationId: 'c-1',
  };
  const agent = started.context.agents.create(agentContext);
  await agent.askWithHistory([{ role: 'user', content: 'draft it' }]);
  const owner = { kind: 'execution', executionId } as const;
  await keepSession(
    { ...started.context, clock },
    { owner, policy: 'bounded', context: agentContext, agent },
  );
}

describe('an execution', () => {
  it('keeps its processes while its work goes on, and a little longer', async () => {
    const started = await start();
    const reaper = reaperOf(started);
    await runExecution(started);
    passed = 24 * HOUR;
    expect(await reaper.sweep()).toEqual({ closed: [], left: [] });
    await writeState(started, 'completed');
    passed += 29 * SECOND;
    expect(await reaper.sweep()).toEqual({ closed: [], left: [] });
    passed += 2 * SECOND;
    expect(await reaper.sweep()).toMatchObject({
      closed: [{ ownerId: executionId, sessionId: executionId, reason: 'work_ended' }],
    });
    expect(statuses()).toEqual(['closed']);
    expect(await reaper.sweep()).toEqual({ closed: [], left: [] });
    expect(await createTerminals(started.context).get(executionId)).toMatchObject({
      policy: 'bounded',
      processState: 'closed',
      closeReason: 'work_ended',
    });
  });

  it('is left to whoever runs a turn in its session, and to a builder that knows its agent', async () => {
    const started = await start();
    await runExecution(started);
    await writeState(started, 'failed');
    passed = HOUR;
    const { lease } = await started.context.store.acquire(keys.lane(key));
    expect(await reaperOf(started).sweep()).toMatchObject({
      closed: [],
      left: [{ sessionId: executionId, detail: 'somebody uses it' }],
    });
    await lease?.release();
    expect(await reaperOf(started, { knowsAgents: false }).sweep()).toMatchObject({
      closed: [],
      left: [{ sessionId: executionId, detail: expect.stringContaining('not registered') }],
    });
    expect(statuses()).toEqual(['idle']);
    expect(await reaperOf(started).sweep()).toMatchObject({ closed: [{ reason: 'work_ended' }] });
  });

  it('is looked at also where a record beside its own cannot be read', async () => {
    const started = await start();
    await runExecution(started);
    await writeState(started, 'stopped');
    await writeFile(join(root, 'data/terminals/a.json'), '{"schema_version":9}');
    await writeFile(join(root, 'data/terminals/b.json'), '{');
    passed = HOUR;
    expect((await reaperOf(started).sweep()).closed).toHaveLength(1);
    expect(await readdir(join(root, 'data/terminals'))).toContain('a.json');
  });
});

import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createAgentRegistry } from '../agents.js';
import { createJobEngine } from '../engine/file-job-engine.js';
import type { JobEngine } from '../engine/job-engine.js';
import { EXECUTIONS_QUEUE } from '../executions/execution-context.js';
import { encodeExecutionJob } from '../executions/execution-job.wire.js';
import { type ExecutionKey, executionIdOf } from '../executions/execution-key.js';
import { createFileStore } from '../persistence/file-store.js';
import { keys } from '../persistence/keys.js';
import type { Store } from '../persistence/store.js';
import type { ContinuationState } from './continuation-state.js';
import { decodeContinuationState, encodeContinuationState } from './continuation-state.wire.js';
import { readContinuationState } from './continuation-state-file.js';
import { takeLearningLock } from './learning-lock.js';
import { listTicketNumbers } from './learning-ticket.js';
import { recoverExecutions } from './recover-executions.js';
import { defineWorkflow } from './workflow-definition.js';

const golden = (name: string) =>
  readFile(new URL(`../__fixtures__/${name}.json`, import.meta.url), 'utf8');

const workflow = defineWorkflow({
  id: 'report',
  steps: [
    {
      id: 'draft',
      agent: 'writer',
      prompt: 'p',
      learning: { prompt: 'l' },
      kbReview: { prompt: 'k' },
    },
  ],
});

let dir = '';
let store: Store;
let engine: JobEngine;

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'holdfast-'));
  store = createFileStore({ dataDir: dir });
  engine = createJobEngine(store);
});

afterEach(async () => {
  await engine.stop();
  await store[Symbol.asyncDispose]();
  await rm(dir, { recursive: true, force: true });
});

const contextOf = (agents: readonly string[] = ['writer']) => ({
  store,
  engine,
  agents: createAgentRegistry(
    Object.fromEntries(agents.map((id) => [id, { provider: 'any', model: 'm' }] as never)),
  ),
  workflows: new Map([[workflow.id, workflow]]),
});

const keyOf = (iteration: string): ExecutionKey => ({ iteration, group: 'main', step: 'draft' });

/** A state like the golden one, in another iteration, changed as told. */
async function put(iteration: string, change: Partial<ContinuationState> = {}): Promise<string> {
  const key = keyOf(iteration);
  const { state } = decodeContinuationState(JSON.parse(await golden('v2/states/all-phases')), key);
  if (!state) throw new TypeError('the golden file cannot be read');
  await store.write(keys.state(key), encodeContinuationState({ ...state, ...change }));
  return await enqueue(iteration);
}

async function enqueue(iteration: string): Promise<string> {
  const executionId = executionIdOf(keyOf(iteration));
  await engine.enqueue(EXECUTIONS_QUEUE, executionId, encodeExecutionJob({ executionId }));
  return executionId;
}

async function stateOf(iteration: string): Promise<ContinuationState> {
  const read = await readContinuationState(store, keyOf(iteration));
  if (read.state !== 'present') throw new TypeError(read.state);
  return read.value;
}

const phase = (status: 'pending' | 'running' | 'waiting_for_lock' | 'completed') => ({
  status,
  updatedAt: '2026-11-29T20:00:00.000Z',
  attempt: 1,
  turns: [],
});

describe('recoverExecutions', () => {
  it.each(['pending', 'running', 'waiting_for_lock'] as const)(
    'queues a main execution that a crash left %s, and changes nothing when run again',
    async (status) => {
      const executionId = await put('1', { phases: { main_execution: phase(status) } });
      const first = await recoverExecutions(contextOf());
      expect(first.queued).toMatchObject([{ executionId, phase: 'main_execution' }]);
      expect(first.left).toEqual([]);
      const state = await stateOf('1');
      expect(state.phases.main_execution).toMatchObject({ status: 'recovery_queued', attempt: 1 });
      const second = await recoverExecutions(contextOf());
      expect(second.queued).toEqual(first.queued);
      expect(await stateOf('1')).toEqual(state);
    },
  );

  it('queues the first phase that is not settled', async () => {
    await put('1', {
      phases: {
        main_execution: phase('completed'),
        pre_validation: phase('running'),
        direct_learning: phase('pending'),
      },
    });
    const { queued } = await recoverExecutions(contextOf());
    expect(queued).toMatchObject([{ phase: 'pre_validation' }]);
    const { phases } = await stateOf('1');
    expect(phases.pre_validation?.status).toBe('recovery_queued');
    expect(phases.direct_learning?.status).toBe('pending');
  });

  it('leaves alone what a living process drives', async () => {
    const executionId = await put('1', { phases: { main_execution: phase('running') } });
    const { lease } = await store.acquire(keys.executionLease(keyOf('1')));
    const { queued, left } = await recoverExecutions(contextOf());
    expect({ queued, left }).toMatchObject({
      queued: [],
      left: [{ executionId, reason: 'live_owner' }],
    });
    await lease?.release();
    expect((await stateOf('1')).phases.main_execution?.status).toBe('running');
  });

  it('leaves alone what waits for a lock in a living process, though nobody has its own lease', async () => {
    const executionId = await put('1', { phases: { kb_review: phase('waiting_for_lock') } });
    const { lease } = await store.acquire(keys.jobLease(EXECUTIONS_QUEUE, executionId));
    const { left } = await recoverExecutions(contextOf());
    expect(left).toMatchObject([{ executionId, reason: 'live_owner' }]);
    await lease?.release();
  });

  it('keeps what names an agent or a workflow nobody registered', async () => {
    const open = { phases: { main_execution: phase('running') } };
    const first = await put('1', open);
    const second = await put('2', {
      ...open,
      workflowId: 'other',
      createdAt: '2027-01-01T00:00:00Z',
    });
    const { queued, left } = await recoverExecutions(contextOf(['reader']));
    expect(queued).toEqual([]);
    expect(left).toMatchObject([
      { executionId: first, reason: 'unregistered_agent' },
      { executionId: second, reason: 'unknown_workflow' },
    ]);
    expect((await stateOf('1')).phases.main_execution?.status).toBe('running');
  });

  it('reports the oldest first by time, not by name', async () => {
    const open = { phases: { main_execution: phase('running') } };
    await put('iteration-10', { ...open, createdAt: '2026-01-01T00:00:00.000000001Z' });
    await put('iteration-2', { ...open, createdAt: '2026-01-01T00:00:00.000000002Z' });
    await put('iteration-1', { ...open, createdAt: '2026-01-01T00:00:00.000000003Z' });
    const { found, queued } = await recoverExecutions(contextOf());
    const order = ['iteration-10', 'iteration-2', 'iteration-1'].map((one) =>
      executionIdOf(keyOf(one)),
    );
    expect(queued.map(({ executionId }) => executionId)).toEqual(order);
    expect(found.map(({ executionId }) => executionId)).toEqual(order);
  });

  it('leaves what waits for an instant as it is, and says until when', async () => {
    const limited = {
      ...phase('running'),
      suspended: { reason: 'rate_limited', until: '2999-01-01T00:00:00.000Z', detail: 'used up' },
    } as const;
    await put('1', { phases: { main_execution: limited } });
    const { left } = await recoverExecutions(contextOf());
    expect(left).toMatchObject([{ reason: 'not_before', phase: 'main_execution' }]);
    expect((await stateOf('1')).phases.main_execution).toMatchObject({ ...limited });
  });

  it('leaves what waits for a person as it is, also where its job was not parked yet', async () => {
    const signedOut = {
      ...phase('running'),
      suspended: { reason: 'auth_required', detail: 'signed out' },
    } as const;
    await put('1', { phases: { main_execution: signedOut } });
    const { queued, left } = await recoverExecutions(contextOf());
    expect(queued).toEqual([]);
    expect(left).toMatchObject([
      { reason: 'parked', phase: 'main_execution', why: 'auth_required: signed out' },
    ]);
    expect((await stateOf('1')).phases.main_execution).toMatchObject({ ...signedOut });
  });

  it('reports a damaged state that was set aside, and goes on with the others', async () => {
    const bad = await put('1');
    await writeFile(join(dir, ...keys.state(keyOf('1'))), '{"phases":');
    await put('2', { phases: { main_execution: phase('running') } });
    const { queued, left } = await recoverExecutions(contextOf());
    expect(left).toMatchObject([{ executionId: bad, reason: 'damaged' }]);
    expect(queued).toHaveLength(1);
  });

  it('is safe for two builders at once: each execution is queued by one write', async () => {
    for (let index = 0; index < 20; index += 1) {
      await put(`${index}`, { phases: { main_execution: phase('running') } });
    }
    await using other = createFileStore({ dataDir: dir });
    const second = { ...contextOf(), store: other, engine: createJobEngine(other) };
    const reports = await Promise.all([recoverExecutions(contextOf()), recoverExecutions(second)]);
    await second.engine.stop();
    for (const { found, queued, left } of reports) {
      expect(found).toHaveLength(20);
      expect(queued.length + left.length).toBe(20);
      expect(left.every(({ reason }) => reason === 'live_owner')).toBe(true);
    }
    for (let index = 0; index < 20; index += 1) {
      const { phases } = await stateOf(`${index}`);
      expect(phases.main_execution).toMatchObject({ status: 'recovery_queued', attempt: 1 });
    }
  });

  it('upgrades a file of schema 1 in the same write', async () => {
    const key = keyOf('iteration-1');
    await store.write(keys.state(key), JSON.parse(await golden('v1/states/waiting-for-lock')));
    await enqueue('iteration-1');
    const { queued } = await recoverExecutions(contextOf());
    expect(queued).toMatchObject([{ phase: 'kb_review' }]);
    const state = await stateOf('iteration-1');
    expect(state).toMatchObject({
      schemaVersion: 2,
      agent: 'writer',
      workflowId: 'report',
      outcome: 'open',
    });
    expect(state.phases.direct_learning?.status).toBe('recovery_queued');
  });

  it('gives up the place at a learning lock of an execution that has ended', async () => {
    const ended = await put('1', { outcome: 'completed' });
    const open = await put('2', { phases: { kb_review: phase('waiting_for_lock') } });
    const first = await takeLearningLock(store, {
      name: 'default',
      executionId: executionIdOf(keyOf('3')),
      signal: new AbortController().signal,
    });
    for (const executionId of [ended, open]) {
      const closing = new AbortController();
      const { signal } = closing;
      const onWaiting = () => closing.abort();
      const options = { name: 'default', executionId, signal, closing: signal, onWaiting };
      await takeLearningLock(store, options).catch(() => {});
    }
    await first[Symbol.asyncDispose]();
    expect(await listTicketNumbers(store, 'default')).toEqual([2, 3]);
    await recoverExecutions(contextOf());
    expect(await listTicketNumbers(store, 'default')).toEqual([3]);
  });
});

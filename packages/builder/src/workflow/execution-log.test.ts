import type { AgentTurnEvent } from '@holdfast/agent';
import { systemClock } from '@holdfast/agent';
import { describe, expect, it } from 'vitest';
import { MemoryDisk, MemoryStore } from '../executions/__fixtures__/memory-store.js';
import { openExecutionLog, readExecutionLog } from './execution-log.js';
import { PHASES } from './phases.js';
import type { WorkflowEvent, WorkflowEventBody } from './workflow-event.js';
import { decodeWorkflowEvent, encodeWorkflowEvent } from './workflow-event.wire.js';

const KEY = { iteration: '1', group: 'main', step: 'draft' };
const LOG = 'runs/1/main/logs/draft/events.jsonl';
const state = { executionId: '1~main~draft', ownerKind: 'workflow_step', correlationId: 'c' };
const phase = PHASES[2];
const error = { family: 'turn', kind: 'timed_out', name: 'TimedOutError', message: 'm', facts: {} };

const EVERY_BODY: readonly WorkflowEventBody[] = [
  { type: 'execution_opened' },
  { type: 'phase_started', phase, attempt: 1 },
  { type: 'phase_completed', phase },
  { type: 'phase_failed', phase, error },
  { type: 'phase_retry_scheduled', phase, attempt: 1, notBefore: 'then', error },
  {
    type: 'phase_suspended',
    phase,
    suspension: { reason: 'rate_limited', until: 'then', detail: '' },
  },
  { type: 'recovery_queued', phase },
  { type: 'pre_validation_passed' },
  { type: 'pre_validation_failed', feedback: '', willRetry: true },
  { type: 'waiting_for_learning_lock', phase, holder: 'x', position: 2 },
  { type: 'learning_continuation_resumed', phase },
  { type: 'learning_completed', phase },
  { type: 'kb_review_completed', phase },
  { type: 'auto_notification_sent', notificationId: 'n', target: 'session' },
  { type: 'sub_agent_started', childExecutionId: '1~main~agent-1' },
  {
    type: 'provider_event',
    phase,
    turnId: 't',
    event: { type: 'tool_started', name: 'Bash', callId: '1', turnId: 't', sequence: 0, at: 'a' },
  },
  { type: 'execution_ended', outcome: 'failed', error },
];

async function open(store: MemoryStore) {
  const { lease } = await store.acquire(['lease']);
  if (!lease) throw new Error('the lease is held');
  return {
    lease,
    log: await openExecutionLog({ store, key: KEY, lease, clock: systemClock, state }),
  };
}

async function readAll(store: MemoryStore, from = 0): Promise<WorkflowEvent[]> {
  const all: WorkflowEvent[] = [];
  for await (const event of readExecutionLog(store, KEY, { from })) all.push(event);
  return all;
}

const toolStarted = (sequence: number): AgentTurnEvent => ({
  type: 'tool_started',
  name: 'Bash',
  callId: String(sequence),
  turnId: 't',
  sequence,
  at: 'a',
});

describe('the log of an execution', () => {
  it('writes and reads every type of event without a loss', () => {
    for (const [sequence, body] of EVERY_BODY.entries()) {
      const event: WorkflowEvent = { ...body, ...state, sequence, at: '2026-01-01T00:00:00.000Z' };
      const line: unknown = JSON.parse(JSON.stringify(encodeWorkflowEvent(event)));
      expect(decodeWorkflowEvent(line, LOG)).toEqual(event);
    }
  });

  it('numbers from 0 without a gap, over several writers, and is read from any number on', async () => {
    const store = new MemoryStore(new MemoryDisk());
    for (const half of [EVERY_BODY.slice(0, 8), EVERY_BODY.slice(8)]) {
      const { lease, log } = await open(store);
      await Promise.all(half.map((body) => log.append(body)));
      await lease.release();
    }
    const all = await readAll(store);
    expect(all.map(({ type }) => type)).toEqual(EVERY_BODY.map(({ type }) => type));
    expect(all.map(({ sequence }) => sequence)).toEqual(EVERY_BODY.map((_body, index) => index));
    expect(await readAll(store, 5)).toEqual(all.slice(5));
  });

  it('keeps a provider’s event once, also after a crash, and neither deltas nor ends', async () => {
    const store = new MemoryStore(new MemoryDisk());
    for (let life = 0; life < 2; life += 1) {
      const { lease, log } = await open(store);
      await log.keep({ phase, turnId: 't', event: toolStarted(0) });
      await log.keep({
        phase,
        turnId: 't',
        event: { ...toolStarted(1), type: 'text_delta', text: 'a' },
      });
      await log.keep({
        phase,
        turnId: 't',
        event: { type: 'failed', kind: 'x', message: 'm', turnId: 't', sequence: 2, at: 'a' },
      });
      await lease.release();
    }
    expect((await readAll(store)).length).toBe(1);
  });

  it('is written by whoever has the lease alone', async () => {
    const store = new MemoryStore(new MemoryDisk());
    const first = await open(store);
    await first.lease.release();
    await open(store);
    await expect(first.log.append({ type: 'execution_opened' })).rejects.toMatchObject({
      kind: 'session_busy',
    });
  });

  it('says what it cannot read, and leaves it as it is', async () => {
    const disk = new MemoryDisk();
    const store = new MemoryStore(disk);
    const { log, lease } = await open(store);
    await log.append({ type: 'execution_opened' });
    await log.append({ type: 'pre_validation_passed' });
    await lease.release();
    const lines = disk.logs.get(LOG) ?? [];
    const [first = '', second = ''] = lines;
    const cases = [
      [[second], 'damaged'],
      [[first, '{"type":"nothing"}'], 'damaged'],
      [[first, second.replace('"schema_version":1', '"schema_version":2')], 'newer_format'],
    ] as const;
    for (const [changed, reason] of cases) {
      disk.logs.set(LOG, [...changed]);
      await expect(readAll(store)).rejects.toMatchObject({ kind: 'state_unusable', reason });
      await expect(open(store)).rejects.toMatchObject({ kind: 'state_unusable' });
      expect(disk.logs.get(LOG)).toEqual(changed);
      disk.dropLeases();
    }
  });
});

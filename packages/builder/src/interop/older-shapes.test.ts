import { readFileSync } from 'node:fs';
import { isContinuationError, isTurnError } from '@holdfast/agent';
import { describe, expect, it } from 'vitest';
import type { ChatView } from '../chat/chat-view.js';
import type { ContinuationState } from '../workflow/continuation-state.js';
import { readOlderFailure, toOlderFailure } from './older-failure.js';
import { olderShapes } from './older-shapes.wire.js';
import {
  toOlderBackgroundAgent,
  toOlderCapacityWait,
  toOlderConfirmation,
  toOlderDelivery,
  toOlderRuntime,
  toOlderTerminals,
} from './older-views.js';

const fixture = (name: string) =>
  JSON.parse(
    readFileSync(new URL(`../__fixtures__/v1/older/${name}.json`, import.meta.url), 'utf8'),
  );
const others: Record<string, readonly unknown[]> = fixture('others');
const AT = '2026-11-29T20:00:00.000Z';

describe('the terminals of the older system', () => {
  it('are read with every key, and written back as they stood', () => {
    const json = fixture('terminals');
    const list = olderShapes.terminalList.decode(json);
    expect(list.total).toBe(2);
    expect(olderShapes.terminalList.encode(list)).toEqual(json);
    const [main, step] = (list.terminals ?? []).map((one) => olderShapes.terminal.decode(one));
    expect(main).toMatchObject({ terminalId: 's-1:main:s-1', active: true, snapshotKind: 'live' });
    expect(step).toMatchObject({ stepAttempt: 2, closesAt: '2026-11-29T20:30:00Z' });
    for (const [index, one] of [main, step].entries()) {
      expect(one && olderShapes.terminal.encode(one)).toEqual(json.terminals[index]);
    }
  });

  it('cost no neighbour where a field is of another kind', () => {
    const [json] = fixture('terminals').terminals;
    const read = olderShapes.terminal.decode({ ...json, chunk_index: 'three', active: 1 });
    expect(read).toMatchObject({ terminalId: 's-1:main:s-1', content: '› hello\n• hi' });
    expect(() => olderShapes.terminal.decode('no object')).toThrow(TypeError);
  });

  it('are told of ours: by its id rules, the current one apart from those it replaced', () => {
    const shown = toOlderTerminals(
      {
        ownerId: 'c-1',
        policy: 'persistent',
        processState: 'live',
        terminals: [
          {
            terminalId: 't-1',
            label: 'one',
            state: 'previous',
            openedAt: AT,
            archivedAt: AT,
            closesAt: AT,
          },
          { terminalId: 't-2', label: 'two', state: 'current', openedAt: AT },
        ],
      },
      [
        {
          terminalId: 't-1',
          ownerId: 'c-1',
          content: 'seen',
          snapshotKind: 'archived',
          capturedAt: AT,
        },
      ],
    );
    expect(shown.map((one) => olderShapes.terminal.encode(one))).toMatchObject([
      {
        terminal_id: `c-1:main:c-1:turn-${Date.parse(AT)}000000`,
        snapshot_kind: 'archived',
        process_state: 'closed',
        content: 'seen',
        closes_at: AT,
      },
      { terminal_id: 'c-1:main:c-1', snapshot_kind: 'live', process_state: 'live', active: true },
    ]);
  });
});

describe('the other shapes of the older builder', () => {
  it('a runtime snapshot is read, and written back as it stood', () => {
    const json = fixture('runtime-snapshot');
    const snapshot = olderShapes.runtimeSnapshot.decode(json);
    expect(snapshot).toMatchObject({ generation: 4, revision: 17, waitingForUser: true });
    expect(olderShapes.runtimeSnapshot.encode(snapshot)).toEqual(json);
    const [child] = snapshot.childExecutions ?? [];
    expect(olderShapes.childExecution.decode(child)).toMatchObject({ executionId: 'e-2' });
  });

  it.each(['delivery', 'confirmation', 'backgroundAgent', 'capacityWait'] as const)(
    'a %s is read, and written back as it stood',
    (name) => {
      const shape: { decode: (value: unknown) => unknown; encode: (model: never) => unknown } =
        olderShapes[name];
      expect(others[name]?.length).toBeGreaterThan(0);
      for (const json of others[name] ?? []) {
        expect(shape.encode(shape.decode(json) as never)).toEqual(json);
      }
    },
  );

  it('what became of a posted message is told in its words', () => {
    const place = { provider: 'codex-cli', transport: 'tmux' };
    const told = (['started_turn', 'steered', 'queued', 'uncertain'] as const).map((status) => {
      const { status: whole, delivery_status } = olderShapes.delivery.encode(
        toOlderDelivery({ status }, place),
      );
      return [whole, delivery_status];
    });
    expect(told).toEqual([
      ['started', 'next_turn_started'],
      ['live_input_delivered', 'sent_to_cli'],
      ['live_input_delivered', 'queued_for_injection'],
      ['live_input_delivered', 'sent_to_cli'],
    ]);
    const known = new Set(
      (others['delivery'] ?? []).map((one) => (one as { delivery_status: string }).delivery_status),
    );
    expect(told.every(([, status]) => known.has(String(status)))).toBe(true);
    const outcomes = (['confirmed', 'uncertain', 'failed'] as const).map(
      (outcome) =>
        toOlderConfirmation({
          ...{ type: 'message_confirmed', messageId: 'm', turnId: 't', outcome },
          ...{ chatId: 'c', sequence: 1, at: AT },
        }).outcome,
    );
    expect(outcomes).toEqual(
      (others['confirmation'] ?? []).map((one) => (one as { outcome: string }).outcome),
    );
  });

  it('a background agent, a wait at a limit and a chat of ours are told in its keys', () => {
    const child: ContinuationState = {
      schemaVersion: 2,
      ...{
        runFolder: 'chats/c',
        stepId: 'agent-1',
        ownerKind: 'background_agent',
        agent: 'tester',
      },
      phases: {
        main_execution: {
          ...{ status: 'running', updatedAt: AT, attempt: 1, turns: [] },
          suspended: { reason: 'rate_limited', until: AT, detail: 'five_hour' },
        },
      },
      ...{
        updatedAt: AT,
        executionId: 'chats~c~agent-1',
        createdAt: AT,
        outcome: 'open',
        terminals: [],
      },
    };
    expect(olderShapes.backgroundAgent.encode(toOlderBackgroundAgent(child))).toEqual({
      ...{ agent_id: 'chats~c~agent-1', name: 'tester', kind: 'background_agent' },
      ...{ status: 'running', started_at: AT, updated_at: AT },
    });
    expect(toOlderCapacityWait(child)).toMatchObject({ step: 'agent-1', reopensAt: AT });
    expect(toOlderCapacityWait({ stepId: 'x', phases: {} })).toBeUndefined();
    const view: ChatView = {
      ...{ chatId: 'c', agent: 'writer', status: 'running', messages: [], deliveries: [] },
      turns: [{ turnId: 't', message: 'x', startedAt: AT, state: 'open' }],
      ...{ terminals: { ownerId: 'c', terminals: [] }, openedAt: AT, updatedAt: AT },
    };
    const ended: ContinuationState = { ...child, ownerKind: 'sub_agent', outcome: 'completed' };
    const runtime = toOlderRuntime(view, [child, ended], { generation: 2, observedAt: AT });
    expect(olderShapes.runtimeSnapshot.encode(runtime)).toMatchObject({
      ...{ session_id: 'c', generation: 2, phase: 'running', raw_session_status: 'open' },
      child_executions: [{ kind: 'sub_agent', status: 'completed', completed_at: AT }],
      background_agents: [{ agent_id: 'chats~c~agent-1', status: 'running' }],
    });
  });
});

describe('the errors of the older system', () => {
  it('are read as those of ours that ask for the same', () => {
    const kinds = (fixture('failures') as unknown[]).map((json) => {
      const failure = olderShapes.failure.decode(json);
      expect(olderShapes.failure.encode(failure)).toEqual(json);
      return readOlderFailure(failure)?.kind;
    });
    expect(kinds).toEqual([
      ...['non_applicable', 'non_continuable', 'stale_handle', 'auth_required', 'rate_limited'],
      ...['rate_limited', 'session_busy', 'uncertain_delivery'],
      // A lost terminal is gone on with, and a message nobody could take is no error of a turn.
      ...[undefined, undefined, undefined, undefined],
    ]);
  });

  it('take a zero instant for none, and name the sign-in', () => {
    const read = (fixture('failures') as unknown[]).map((json) =>
      readOlderFailure(olderShapes.failure.decode(json)),
    );
    expect(read[4]).toMatchObject({ resetAt: '2026-11-29T22:00:00Z' });
    expect(read[5]).toMatchObject({ kind: 'rate_limited', resetAt: undefined });
    expect(read[3]?.message).toContain('claude /login');
  });

  it('come back as they went where both know them', () => {
    for (const json of fixture('failures') as unknown[]) {
      const error = readOlderFailure(olderShapes.failure.decode(json));
      if (!error) continue;
      const again = toOlderFailure(error);
      expect(again).toBeDefined();
      const back = again && readOlderFailure(again);
      expect(isTurnError(back) || isContinuationError(back)).toBe(true);
      expect(back?.kind).toBe(error.kind);
    }
    expect(toOlderFailure(new Error('something else'))).toBeUndefined();
  });
});

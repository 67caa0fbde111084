import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AgentTurn, AgentTurnEvent } from '@holdfast/agent';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createFileStore } from '../persistence/file-store.js';
import { keys } from '../persistence/keys.js';
import { openChatLog } from './chat-log.js';
import { keepTurnEvents } from './keep-turn-events.js';

const TURN = '11111111-1111-4111-8111-111111111111';

let root = '';
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'holdfast-events-'));
});
afterEach(() => rm(root, { recursive: true, force: true }));

const told: AgentTurnEvent[] = [
  { type: 'running', turnId: TURN, sequence: 0, at: 'a' },
  { type: 'text_delta', text: 'Not', turnId: TURN, sequence: 1, at: 'b' },
  { type: 'tool_started', name: 'read', callId: 'c-1', turnId: TURN, sequence: 2, at: 'c' },
  { type: 'failed', kind: 'timed_out', message: 'in vain', turnId: TURN, sequence: 3, at: 'd' },
];

const turnOf = (events: readonly AgentTurnEvent[]) =>
  ({
    turnId: TURN,
    events: async function* () {
      yield* events;
      throw new Error('the error of the turn');
    },
  }) as unknown as AgentTurn;

it('keeps what a replay tells once more only once, and another attempt as well', async () => {
  await using store = createFileStore({ dataDir: root });
  const { lease } = await store.acquire(keys.chatLease('chat-1'));
  if (!lease) throw new Error('unreachable: nobody else has it');
  const first = await openChatLog(store, 'chat-1', lease);
  await keepTurnEvents(first, turnOf(told));
  const again = await openChatLog(store, 'chat-1', lease);
  await keepTurnEvents(again, turnOf(told));
  await keepTurnEvents(again, turnOf([{ type: 'running', turnId: TURN, sequence: 0, at: 'e' }]));

  const kept = again.events.flatMap((event) => (event.type === 'turn_event' ? [event.event] : []));
  expect(kept.map(({ type, at }) => [type, at])).toEqual([
    ['running', 'a'],
    ['tool_started', 'c'],
    ['running', 'e'],
  ]);
});

import {
  acquireLease,
  noSignIsEnough,
  readJsonFile,
  StateUnusableError,
  waitUntil,
  writeFileAtomic,
} from '@holdfast/provider-core';
import type { AgentLayout } from '../agent-layout.js';
import type { QueueState } from './queued-message.js';
import { decodeQueueState, encodeQueueState } from './queued-message.wire.js';

/** How long another writer of the queue's file may take; its own work is one small write. */
const WRITE_TURN_MS = 10_000;

/** One agent's messages that wait for their turn, on disk. */
export interface MessageQueue {
  readonly load: () => Promise<QueueState>;
  /** Durable when it resolves; writers of all processes take turns. */
  readonly update: (change: (state: QueueState) => QueueState) => Promise<QueueState>;
}

/** The queue of one agent id. */
export function createMessageQueue(layout: AgentLayout, agentId: string): MessageQueue {
  const path = layout.queueFile(agentId);
  const leaseDir = layout.queueWriteLease(agentId);
  const load = () => readQueue(path);
  const update = async (change: (state: QueueState) => QueueState) => {
    await using _turn = await waitForWriteTurn(leaseDir);
    const before = await load();
    const after = change(before);
    if (after !== before) await writeFileAtomic(path, JSON.stringify(encodeQueueState(after)));
    return after;
  };
  return { load, update };
}

async function readQueue(path: string): Promise<QueueState> {
  const file = await readJsonFile(path);
  switch (file.state) {
    case 'absent':
      return { messages: [] };
    case 'present':
      return decodeQueueState(file.value, path);
    case 'damaged':
      throw new StateUnusableError(
        path,
        'damaged',
        `it was no JSON and stands at ${file.movedTo} now. Nothing was sent; repair or remove it.`,
      );
  }
}

function waitForWriteTurn(dir: string) {
  const tryOnce = async () => (await acquireLease({ dir, foreignIsFree: noSignIsEnough })).lease;
  return waitUntil(tryOnce, {
    awaiting: 'another writer of the message queue',
    deadlineMs: WRITE_TURN_MS,
    layer: 'agent',
  });
}

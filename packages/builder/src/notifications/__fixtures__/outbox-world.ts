import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Clock, systemClock } from '@holdfast/agent';
import { createFileStore } from '../../persistence/file-store.js';
import type { Store } from '../../persistence/store.js';
import type { Notification } from '../notification.js';
import { createOutbox, type Outbox, type OutboxOptions } from '../outbox.js';
import { createRecordingSessions, type RecordingSessions } from './recording-sessions.js';

export const NEVER = new AbortController().signal;
export const START = Date.parse('2026-01-02T03:04:05.000Z');

/** A data directory, the sessions that are told, and a wall clock that a test sets; waits are real. */
export interface OutboxWorld extends AsyncDisposable {
  readonly store: Store;
  readonly sessions: RecordingSessions;
  readonly time: { nowMs: number };
  readonly open: (options?: Partial<OutboxOptions>) => Outbox;
  /** Delivers as the driver does: whenever something is due, until nothing is pending. */
  readonly drain: (outbox: Outbox, id: string) => Promise<void>;
}

export async function createOutboxWorld(): Promise<OutboxWorld> {
  const dataDir = await mkdtemp(join(tmpdir(), 'holdfast-'));
  const store = createFileStore({ dataDir });
  const sessions = createRecordingSessions();
  const time = { nowMs: START };
  const clock: Clock = { ...systemClock, now: () => time.nowMs };
  return {
    store,
    sessions,
    time,
    open: (options) => createOutbox({ store, sessions, clock, ...options }),
    drain: async (outbox, id) => {
      for (;;) {
        const due = outbox.nextDueAt(await outbox.get(id));
        if (due === undefined) return;
        time.nowMs = Math.max(time.nowMs, Date.parse(due));
        await outbox.deliver(id, NEVER);
      }
    },
    [Symbol.asyncDispose]: async () => {
      await store[Symbol.asyncDispose]();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

export const about = (executionId: string): Notification => ({
  notificationId: `${executionId}~completed`,
  executionId,
  outcome: 'completed',
  text: `[AUTO-NOTIFICATION] ${executionId} completed.\nResult: fine`,
  target: { kind: 'chat', chatId: 'boss' },
  at: '2026-01-02T03:04:05.000Z',
});

export const ID = '1~main~draft~completed';
export const DRAFT = about('1~main~draft');

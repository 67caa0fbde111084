import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { TimedOutError } from '@holdfast/agent';
import { expect, it } from 'vitest';
import { UnknownChatError } from '../chat/chat-error.js';
import type { Job } from '../engine/job-engine.js';
import { createFileStore } from '../persistence/file-store.js';
import { createRecordingSessions } from './__fixtures__/recording-sessions.js';
import { createNotificationJob, createNotifications } from './notifications.js';
import { createOutbox } from './outbox.js';

it('queues a dead letter that is asked for again until nothing of it is pending', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'holdfast-'));
  await using store = createFileStore({ dataDir });
  const sessions = createRecordingSessions();
  const outbox = createOutbox({ store, sessions });
  const signal = new AbortController().signal;
  const { notificationId } = await outbox.put({
    notificationId: '1~main~draft~failed',
    executionId: '1~main~draft',
    outcome: 'failed',
    text: '[AUTO-NOTIFICATION] Step draft FAILED.\nError: none',
    target: { kind: 'chat', chatId: 'boss' },
    at: '2026-01-02T03:04:05.000Z',
  });
  sessions.script.push(new UnknownChatError('boss'));
  await outbox.deliver(notificationId, signal);

  const calls: string[] = [];
  const engine = {
    enqueue: async (queue: string, id: string) => calls.push(`${queue} ${id}`) === 1,
    wake: async (_queue: string, id: string) => calls.push(`wake ${id}`) > 0,
  };
  const notifications = createNotifications(outbox, { engine, checkOpen: () => {} });
  expect((await notifications.retry(notificationId)).session).toEqual({
    state: 'pending',
    attempts: 0,
  });
  await notifications.retry(notificationId);
  expect(calls).toEqual([
    `notifications ${notificationId}`,
    `notifications ${notificationId}`,
    `wake ${notificationId}`,
  ]);

  const run = createNotificationJob(outbox);
  const job = { queue: 'notifications', id: notificationId, payload: null } as unknown as Job;
  const context = { signal, isCurrent: () => true };
  sessions.script.push(new TimedOutError({ awaiting: 'intake', limitMs: 1, layer: 'agent' }));
  expect(await run(job, context)).toMatchObject({ state: 'later', reason: 'timed_out' });
  await notifications.retry(notificationId);
  expect(await run(job, context)).toEqual({ state: 'done' });
  expect((await notifications.get(notificationId)).session.state).toBe('delivered');
  await rm(dataDir, { recursive: true, force: true });
});

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  AuthRequiredError,
  type Clock,
  NonContinuableError,
  RateLimitedError,
  SessionBusyError,
  StaleHandleError,
  systemClock,
  TimedOutError,
  UncertainDeliveryError,
} from '@holdfast/agent';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { UnknownChatError } from '../chat/chat-error.js';
import { createFileStore } from '../persistence/file-store.js';
import { keys } from '../persistence/keys.js';
import type { Store } from '../persistence/store.js';
import { Crash, dieAfterWrite } from './__fixtures__/crashing-store.js';
import {
  createRecordingSessions,
  type RecordingSessions,
} from './__fixtures__/recording-sessions.js';
import type { Notification } from './notification.js';
import { createOutbox, type Outbox, type OutboxOptions } from './outbox.js';

const NEVER = new AbortController().signal;
const START = Date.parse('2026-01-02T03:04:05.000Z');

let dir = '';
let store: Store;
let nowMs = START;
let sessions: RecordingSessions;

/** A wall clock that a test sets; waits are real. */
const clock: Clock = { ...systemClock, now: () => nowMs };

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'holdfast-'));
  store = createFileStore({ dataDir: dir });
  nowMs = START;
  sessions = createRecordingSessions();
});

afterEach(async () => {
  await store[Symbol.asyncDispose]();
  await rm(dir, { recursive: true, force: true });
});

const open = (options: Partial<OutboxOptions> = {}): Outbox =>
  createOutbox({ store, sessions, clock, ...options });

const about = (executionId: string): Notification => ({
  notificationId: `${executionId}~completed`,
  executionId,
  outcome: 'completed',
  text: `[AUTO-NOTIFICATION] ${executionId} completed.\nResult: fine`,
  target: { kind: 'chat', chatId: 'boss' },
  at: '2026-01-02T03:04:05.000Z',
});

const ID = '1~main~draft~completed';
const DRAFT = about('1~main~draft');

/** Delivers as the driver does: whenever something is due, until nothing is pending. */
async function drain(outbox: Outbox, id: string): Promise<void> {
  for (;;) {
    const due = outbox.nextDueAt(await outbox.get(id));
    if (due === undefined) return;
    nowMs = Math.max(nowMs, Date.parse(due));
    await outbox.deliver(id, NEVER);
  }
}

describe('put', () => {
  it('changes nothing when the id is there, and keeps its turn id', async () => {
    const outbox = open();
    const first = await outbox.put(DRAFT);
    const second = await open().put({ ...DRAFT, text: '[AUTO-NOTIFICATION] another text' });
    expect(second).toEqual(first);
    expect(await outbox.get(ID)).toEqual(first);
  });

  it('gives parallel callers one and the same entry', async () => {
    const entries = await Promise.all(Array.from({ length: 20 }, () => open().put(DRAFT)));
    expect(new Set(entries.map(({ turnId }) => turnId)).size).toBe(1);
  });

  it('refuses an id that would name another place', async () => {
    const outbox = open();
    await expect(outbox.put({ ...DRAFT, notificationId: '../../x' })).rejects.toThrow(TypeError);
    await expect(outbox.get('a/b')).rejects.toThrow(TypeError);
    await expect(outbox.deliver('1~main~none~failed', NEVER)).rejects.toMatchObject({
      kind: 'unknown_notification',
    });
  });
});

describe('deliver', () => {
  it('sends into the session and tells the handler, each once', async () => {
    const told: Notification[] = [];
    const outbox = open({ onNotification: (one) => void told.push(one) });
    const { turnId } = await outbox.put(DRAFT);
    const entry = await outbox.deliver(ID, NEVER);
    expect(entry.session).toEqual({ state: 'delivered', attempts: 1, via: 'turn' });
    expect(entry.handler).toEqual({ state: 'delivered', attempts: 1, via: 'handler' });
    expect(await outbox.deliver(ID, NEVER)).toEqual(entry);
    expect(sessions.sent).toEqual([
      { owner: DRAFT.target, turnId, text: DRAFT.text, whenBusy: 'wait', signal: NEVER },
    ]);
    expect(told).toEqual([DRAFT]);
  });

  it('counts a try on disk before it is made', async () => {
    const attempts: number[] = [];
    const outbox = open({
      onNotification: async () => {
        attempts.push((await outbox.get(ID)).handler.attempts);
      },
    });
    await outbox.put(DRAFT);
    await outbox.deliver(ID, NEVER);
    expect(attempts).toEqual([1]);
  });

  it('tries a failing handler again after 1, 2, 4 … seconds, and the session only once', async () => {
    let failures = 3;
    const at: number[] = [];
    const outbox = open({
      onNotification: () => {
        at.push((nowMs - START) / 1000);
        failures -= 1;
        if (failures >= 0) throw new Error('no line');
      },
    });
    await outbox.put(DRAFT);
    await drain(outbox, ID);
    expect(at).toEqual([0, 1, 3, 7]);
    expect(sessions.sent).toHaveLength(1);
    expect((await outbox.get(ID)).handler).toMatchObject({ state: 'delivered', attempts: 4 });
  });

  it('does nothing before the back-off is over', async () => {
    const outbox = open();
    await outbox.put(DRAFT);
    sessions.script.push(new TimedOutError({ awaiting: 'intake', limitMs: 1, layer: 'agent' }));
    await outbox.deliver(ID, NEVER);
    nowMs += 999;
    await outbox.deliver(ID, NEVER);
    expect(sessions.sent).toHaveLength(1);
    nowMs += 1;
    expect((await outbox.deliver(ID, NEVER)).session.state).toBe('delivered');
  });

  it('gives up after 8 attempts, and delivers the dead letter when asked to', async () => {
    const outbox = open();
    const { turnId } = await outbox.put(DRAFT);
    const failure = new TimedOutError({ awaiting: 'intake', limitMs: 1, layer: 'agent' });
    sessions.script.push(...Array.from({ length: 8 }, () => failure));
    await drain(outbox, ID);
    const dead = await outbox.get(ID);
    expect(dead.session).toMatchObject({ state: 'dead_letter', attempts: 8 });
    expect(dead.session.error?.kind).toBe('timed_out');
    expect(await outbox.list({ state: 'dead_letter' })).toEqual([dead]);

    await outbox.retry(ID);
    await drain(outbox, ID);
    expect((await outbox.get(ID)).session).toMatchObject({ state: 'delivered', attempts: 1 });
    expect([...sessions.taken.keys()]).toEqual([turnId]);
  });

  it.each([
    new UnknownChatError('boss'),
    new NonContinuableError('some-cli', 'native_session_id'),
    new StaleHandleError('some-cli', { changedField: 'model' } as never),
  ])('gives up at once on a session that is gone: $kind', async (error) => {
    const outbox = open({ onNotification: () => {} });
    await outbox.put(DRAFT);
    sessions.script.push(error);
    const entry = await outbox.deliver(ID, NEVER);
    expect(entry.session).toMatchObject({ state: 'dead_letter', attempts: 1 });
    expect(entry.session.error?.kind).toBe(error.kind);
    expect(entry.handler.state).toBe('delivered');
  });

  it.each([
    new SessionBusyError({ kind: 'ours' }),
    new AuthRequiredError('signed out'),
    new RateLimitedError('too much'),
  ])('counts no attempt while the session cannot take it: $kind', async (error) => {
    const outbox = open();
    await outbox.put(DRAFT);
    sessions.script.push(...Array.from({ length: 12 }, () => error));
    await drain(outbox, ID);
    expect(sessions.sent).toHaveLength(13);
    expect((await outbox.get(ID)).session).toMatchObject({ state: 'delivered', attempts: 1 });
  });

  it('waits for the instant at which a limit ends', async () => {
    const outbox = open();
    await outbox.put(DRAFT);
    sessions.script.push(new RateLimitedError('too much', '2026-01-04T00:00:00.000Z'));
    expect(outbox.nextDueAt(await outbox.deliver(ID, NEVER))).toBe('2026-01-04T00:00:00.000Z');
  });

  it('goes on within minutes when the clock was set back', async () => {
    const outbox = open({ onNotification: () => Promise.reject(new Error('no line')) });
    await outbox.put(DRAFT);
    const entry = await outbox.deliver(ID, NEVER);
    nowMs -= 3_600_000;
    expect(Date.parse(outbox.nextDueAt(entry) ?? '')).toBe(nowMs + 300_000);
  });

  it('takes a steered text for delivered only when the running turn took it in', async () => {
    const outbox = open({ policy: { whenBusy: 'steer' } });
    await outbox.put(DRAFT);
    sessions.script.push({ state: 'steered' });
    expect((await outbox.deliver(ID, NEVER)).session).toMatchObject({
      state: 'delivered',
      via: 'steered',
    });

    await outbox.put(about('1~main~other'));
    sessions.script.push(new UncertainDeliveryError({ what: 'steered' } as never));
    const uncertain = await outbox.deliver('1~main~other~completed', NEVER);
    expect(uncertain.session).toMatchObject({ state: 'dead_letter' });
    expect(uncertain.session.error?.kind).toBe('uncertain_delivery');
    expect(sessions.sent).toHaveLength(2);
  });

  it('looks an uncertain turn up under the same id, and sends no second one', async () => {
    const outbox = open();
    const { turnId } = await outbox.put(DRAFT);
    sessions.script.push(new UncertainDeliveryError({ what: 'pasted' } as never));
    await drain(outbox, ID);
    expect(sessions.sent.map((one) => one.turnId)).toEqual([turnId, turnId]);
    expect((await outbox.get(ID)).session.state).toBe('delivered');
  });

  it('counts nothing when it is told to stop', async () => {
    const stop = new AbortController();
    const outbox = open({
      onNotification: () => {
        stop.abort(new Error('closing'));
        return new Promise(() => {});
      },
    });
    await outbox.put({ ...DRAFT, target: undefined });
    await expect(outbox.deliver(ID, stop.signal)).rejects.toThrow('closing');
    expect((await outbox.get(ID)).handler).toEqual({ state: 'pending', attempts: 0 });
  });

  it('lets one of several builders deliver an entry', async () => {
    let calls = 0;
    const onNotification = async () => {
      calls += 1;
      await new Promise((resolve) => setImmediate(resolve));
    };
    const builders = Array.from({ length: 4 }, () => open({ onNotification }));
    await builders[0]?.put(DRAFT);
    const entries = await Promise.all(builders.map((one) => one.deliver(ID, NEVER)));
    expect(calls).toBe(1);
    expect(sessions.sent).toHaveLength(1);
    expect(entries.map(({ handler }) => handler.state)).toEqual(Array(4).fill('delivered'));
  });

  it('gives up a handler that this builder was not given, and says so', async () => {
    await open({ onNotification: () => {} }).put(DRAFT);
    const entry = await open().deliver(ID, NEVER);
    expect(entry.handler.state).toBe('dead_letter');
    expect(entry.handler.error?.message).toContain('onNotification');
  });

  it('delivers a burst of 100, each exactly once', async () => {
    const told: string[] = [];
    const outbox = open({ onNotification: ({ notificationId }) => void told.push(notificationId) });
    const ids = Array.from({ length: 100 }, (_, index) => `1~main~step-${index}`);
    await Promise.all(ids.map((id) => outbox.put(about(id))));
    await Promise.all(ids.map((id) => outbox.deliver(`${id}~completed`, NEVER)));
    expect(sessions.taken.size).toBe(100);
    expect(new Set(told).size).toBe(100);
    expect(told).toHaveLength(100);
    expect(await outbox.list({ state: 'delivered' })).toHaveLength(100);
  });
});

describe('after a crash', () => {
  it.each([1, 2, 3, 4, 5])('right after write %i it delivers what is owed', async (write) => {
    const told: string[] = [];
    const onNotification = ({ notificationId }: Notification) => void told.push(notificationId);
    const dying = dieAfterWrite(store, write);
    const first = open({ store: dying, onNotification });
    const crash = await first
      .put(DRAFT)
      .then(() => first.deliver(ID, NEVER))
      .then(
        () => undefined,
        (error: unknown) => error,
      );
    expect(crash).toBeInstanceOf(Crash);

    const second = open({ onNotification });
    await second.put(DRAFT);
    await drain(second, ID);
    const entry = await second.get(ID);
    expect([entry.session.state, entry.handler.state]).toEqual(['delivered', 'delivered']);
    expect([...sessions.taken.keys()]).toEqual([entry.turnId]);
    expect(new Set(told)).toEqual(new Set([ID]));
  });

  it('gives up an entry whose tries never came back', async () => {
    const onNotification = () => {
      throw new Error('unused');
    };
    await open({ onNotification }).put({ ...DRAFT, target: undefined });
    for (let tries = 0; tries < 8; tries += 1) {
      const dying = dieAfterWrite(store, 1);
      await expect(open({ store: dying, onNotification }).deliver(ID, NEVER)).rejects.toThrow(
        Crash,
      );
    }
    expect((await open({ onNotification }).deliver(ID, NEVER)).handler).toMatchObject({
      state: 'dead_letter',
      attempts: 8,
    });
  });
});

describe('prune', () => {
  it('takes away what was delivered 30 days ago, and nothing else', async () => {
    const outbox = open();
    await outbox.put(DRAFT);
    await outbox.deliver(ID, NEVER);
    await outbox.put(about('1~main~dead'));
    sessions.script.push(new UnknownChatError('boss'));
    await outbox.deliver('1~main~dead~completed', NEVER);
    await outbox.put(about('1~main~owed'));

    nowMs += 30 * 24 * 3_600_000;
    expect(await outbox.prune()).toBe(0);
    nowMs += 1;
    expect(await outbox.prune()).toBe(1);
    const left = await outbox.list();
    expect(left.map(({ executionId }) => executionId).sort()).toEqual([
      '1~main~dead',
      '1~main~owed',
    ]);
  });

  it('lists what can be read when one record is damaged', async () => {
    const outbox = open();
    await outbox.put(DRAFT);
    await store.write(keys.notification('1~main~bad~failed'), { schema_version: 1 });
    await store.write(keys.notification('1~main~new~failed'), { schema_version: 99 });
    expect(await outbox.list()).toHaveLength(1);
    await expect(outbox.get('1~main~bad~failed')).rejects.toMatchObject({ reason: 'damaged' });
    await expect(outbox.get('1~main~new~failed')).rejects.toMatchObject({
      reason: 'newer_format',
    });
  });
});

import {
  AuthRequiredError,
  NonContinuableError,
  RateLimitedError,
  SessionBusyError,
  StaleHandleError,
  TimedOutError,
  UncertainDeliveryError,
} from '@holdfast/agent';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { UnknownChatError } from '../chat/chat-error.js';
import type { SessionMessage } from '../executions/session-turns.js';
import {
  about,
  createOutboxWorld,
  DRAFT,
  ID,
  NEVER,
  type OutboxWorld,
  START,
} from './__fixtures__/outbox-world.js';
import type { RecordingSessions } from './__fixtures__/recording-sessions.js';
import type { Notification } from './notification.js';

let world: OutboxWorld;
let sessions: RecordingSessions;
const open: OutboxWorld['open'] = (options) => world.open(options);

beforeEach(async () => {
  world = await createOutboxWorld();
  sessions = world.sessions;
});

afterEach(() => world[Symbol.asyncDispose]());

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
      expect.objectContaining({ owner: DRAFT.target, turnId, text: DRAFT.text, whenBusy: 'wait' }),
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
        at.push((world.time.nowMs - START) / 1000);
        failures -= 1;
        if (failures >= 0) throw new Error('no line');
      },
    });
    await outbox.put(DRAFT);
    await world.drain(outbox, ID);
    expect(at).toEqual([0, 1, 3, 7]);
    expect(sessions.sent).toHaveLength(1);
    expect((await outbox.get(ID)).handler).toMatchObject({ state: 'delivered', attempts: 4 });
  });

  it('does nothing before the back-off is over', async () => {
    const outbox = open();
    await outbox.put(DRAFT);
    sessions.script.push(new TimedOutError({ awaiting: 'intake', limitMs: 1, layer: 'agent' }));
    await outbox.deliver(ID, NEVER);
    world.time.nowMs += 999;
    await outbox.deliver(ID, NEVER);
    expect(sessions.sent).toHaveLength(1);
    world.time.nowMs += 1;
    expect((await outbox.deliver(ID, NEVER)).session.state).toBe('delivered');
  });

  it('gives up after 8 attempts, and delivers the dead letter when asked to', async () => {
    const outbox = open();
    const { turnId } = await outbox.put(DRAFT);
    const failure = new TimedOutError({ awaiting: 'intake', limitMs: 1, layer: 'agent' });
    sessions.script.push(...Array.from({ length: 8 }, () => failure));
    await world.drain(outbox, ID);
    const dead = await outbox.get(ID);
    expect(dead.session).toMatchObject({ state: 'dead_letter', attempts: 8 });
    expect(dead.session.error?.kind).toBe('timed_out');
    expect(await outbox.list({ state: 'dead_letter' })).toEqual([dead]);

    await outbox.retry(ID);
    await world.drain(outbox, ID);
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
    await world.drain(outbox, ID);
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
    world.time.nowMs -= 3_600_000;
    expect(Date.parse(outbox.nextDueAt(entry) ?? '')).toBe(world.time.nowMs + 300_000);
  });

  it('takes a steered text for delivered only when the running turn took it in', async () => {
    const outbox = open({ policy: { whenBusy: 'steer' } });
    await outbox.put(DRAFT);
    sessions.script.push({ state: 'steered' });
    expect((await outbox.deliver(ID, NEVER)).session).toMatchObject({
      state: 'delivered',
      via: 'steered',
    });
  });

  it.each(['unknown', 'thrown'])(
    'never tries a text again that may stand in a running turn: %s',
    async (how) => {
      const uncertain = new UncertainDeliveryError({ what: 'steered' } as never);
      const unsure = {
        ...sessions,
        send: async (message: SessionMessage) => {
          sessions.sent.push(message);
          await message.aroundSteer?.(async () => {
            expect((await outbox.get(ID)).session.steering).toBe(true);
            if (how === 'thrown') throw new Error('the pane is gone');
            return { outcome: how };
          });
          throw uncertain;
        },
      };
      const outbox = open({ sessions: unsure, policy: { whenBusy: 'steer' } });
      await outbox.put(DRAFT);
      expect((await outbox.deliver(ID, NEVER)).session.state).toBe('dead_letter');
      await world.drain(outbox, ID);
      expect(sessions.sent).toHaveLength(1);
    },
  );

  it('goes on to a turn of its own when the running turn refused the text', async () => {
    const refusing = {
      ...sessions,
      send: async (message: SessionMessage) => {
        await message.aroundSteer?.(async () => ({ outcome: 'refused' }));
        expect((await outbox.get(ID)).session.steering).toBeUndefined();
        return sessions.send(message);
      },
    };
    const outbox = open({ sessions: refusing, policy: { whenBusy: 'steer' } });
    await outbox.put(DRAFT);
    expect((await outbox.deliver(ID, NEVER)).session).toMatchObject({ via: 'turn' });
  });

  it('looks an uncertain turn up under the same id, and sends no second one', async () => {
    const outbox = open();
    const { turnId } = await outbox.put(DRAFT);
    sessions.script.push(new UncertainDeliveryError({ what: 'pasted' } as never));
    await world.drain(outbox, ID);
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

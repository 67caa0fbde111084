import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { UnknownChatError } from '../chat/chat-error.js';
import type { SessionMessage } from '../executions/session-turns.js';
import { keys } from '../persistence/keys.js';
import { Crash, dieAfterWrite } from './__fixtures__/crashing-store.js';
import {
  about,
  createOutboxWorld,
  DRAFT,
  ID,
  NEVER,
  type OutboxWorld,
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

describe('after a crash', () => {
  it.each([1, 2, 3, 4, 5])('right after write %i it delivers what is owed', async (write) => {
    const told: string[] = [];
    const onNotification = ({ notificationId }: Notification) => void told.push(notificationId);
    const dying = dieAfterWrite(world.store, write);
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
    await world.drain(second, ID);
    const entry = await second.get(ID);
    expect([entry.session.state, entry.handler.state]).toEqual(['delivered', 'delivered']);
    expect([...sessions.taken.keys()]).toEqual([entry.turnId]);
    expect(new Set(told)).toEqual(new Set([ID]));
  });

  it('while a text was put into a running turn it is uncertain, and only a person tries again', async () => {
    let texts = 0;
    const steering = {
      ...sessions,
      send: async (message: SessionMessage) => {
        await message.aroundSteer?.(async () => {
          texts += 1;
          return { outcome: 'accepted' };
        });
        return { state: 'steered' } as const;
      },
    };
    const policy = { whenBusy: 'steer' } as const;
    await open({ sessions: steering, policy }).put(DRAFT);
    const dying = open({ store: dieAfterWrite(world.store, 3), sessions: steering, policy });
    // The try, the beginning of the steering, the result: the last one is written, and nobody knows.
    await expect(dying.deliver(ID, NEVER)).rejects.toThrow(Crash);
    expect((await open().get(ID)).session.state).toBe('delivered');

    await open({ sessions: steering, policy }).put(about('1~main~cut'));
    const cut = '1~main~cut~completed';
    const dead = open({ store: dieAfterWrite(world.store, 2), sessions: steering, policy });
    await expect(dead.deliver(cut, NEVER)).rejects.toThrow(Crash);
    const next = open({ sessions: steering, policy });
    const entry = await next.deliver(cut, NEVER);
    expect(entry.session).toMatchObject({ state: 'dead_letter', attempts: 1 });
    expect(entry.session.error?.kind).toBe('uncertain_delivery');
    expect(texts).toBe(1);
    await next.retry(cut);
    expect((await next.deliver(cut, NEVER)).session.via).toBe('steered');
  });

  it('gives up an entry whose tries never came back', async () => {
    const onNotification = () => {
      throw new Error('unused');
    };
    await open({ onNotification }).put({ ...DRAFT, target: undefined });
    for (let tries = 0; tries < 8; tries += 1) {
      const dying = dieAfterWrite(world.store, 1);
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

    world.time.nowMs += 30 * 24 * 3_600_000;
    expect(await outbox.prune()).toBe(0);
    world.time.nowMs += 1;
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
    await world.store.write(keys.notification('1~main~bad~failed'), { schema_version: 1 });
    await world.store.write(keys.notification('1~main~new~failed'), { schema_version: 99 });
    expect(await outbox.list()).toHaveLength(1);
    await expect(outbox.get('1~main~bad~failed')).rejects.toMatchObject({ reason: 'damaged' });
    await expect(outbox.get('1~main~new~failed')).rejects.toMatchObject({
      reason: 'newer_format',
    });
  });
});

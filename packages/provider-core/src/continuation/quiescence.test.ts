import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { TurnEvent } from '../spec/turn-event.js';
import { waitUntil } from '../time/wait-until.js';
import { LiveScript } from './live-script.js';
import { beginScripted, type ScriptedTurnOptions } from './scripted-session.js';

let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'hf-quiet-'));
});
afterEach(async () => {
  await rm(root, { recursive: true, force: true });
});

async function begin(script: LiveScript, options: Partial<ScriptedTurnOptions> = {}) {
  const { turn } = await beginScripted(script.provider, 'build it', {
    stateDir: join(root, 'state'),
    transport: script.transport,
    ...options,
  });
  const events: TurnEvent[] = [];
  const reading = (async () => {
    for await (const event of turn) events.push(event);
  })();
  reading.catch(() => {});
  await until('the message to be sent', () => script.provider.sent.length > 0);
  return { turn, events, reading };
}

const until = (awaiting: string, probe: () => boolean) =>
  waitUntil(probe, { awaiting, deadlineMs: 20_000 });
const typesOf = (events: readonly TurnEvent[]) => events.map(({ type }) => type);

describe('the end of a turn and quiescence', () => {
  it('B88: are two facts: the answer comes at once, the promise waits for the background work', async () => {
    const script = new LiveScript();
    script.backgroundWork = 1;
    const { turn, events, reading } = await begin(script, { waitFor: 'quiescence' });
    let isOver = false;
    turn.finally(() => {
      isOver = true;
    });
    script.answer('started it', { backgroundWork: 1 });
    await until('the answer', () => typesOf(events).includes('answer'));
    script.write({ type: 'message_accepted', text: 'a task ended', origin: 'background' });
    script.write({
      type: 'turn_ended',
      answer: 'it is built',
      backgroundWork: 0,
      origin: 'background',
    });
    await until('the background turn', () => typesOf(events).includes('background_turn'));
    expect(isOver).toBe(false);
    script.backgroundWork = 0;
    expect((await turn).answer).toBe('started it');
    await reading;
    expect(typesOf(events).slice(-3)).toEqual(['background_turn', 'quiescent', 'completed']);
  });

  it('does not wait where the caller waits for the turn alone', async () => {
    const script = new LiveScript();
    script.backgroundWork = 1;
    const { turn, events, reading } = await begin(script);
    script.answer('started it', { backgroundWork: 1 });
    expect((await turn).answer).toBe('started it');
    await reading;
    expect(typesOf(events)).not.toContain('quiescent');
  });

  it('keeps the answer when the wait is cut short', async () => {
    const script = new LiveScript();
    script.backgroundWork = 1;
    const { turn } = await begin(script, { waitFor: 'quiescence', limits: { quiescenceMs: 1 } });
    script.answer('started it', { backgroundWork: 1 });
    await expect(turn).rejects.toMatchObject({ kind: 'timed_out' });
    const { turn: again } = await beginScripted(script.provider, 'build it', {
      stateDir: join(root, 'state'),
      transport: script.transport,
    });
    expect((await again).answer).toBe('started it');
    expect(script.provider.sent).toEqual(['build it']);
  });

  it('counts a process that is gone as quiet', async () => {
    const script = new LiveScript();
    script.backgroundWork = 1;
    const { turn } = await begin(script, { waitFor: 'quiescence' });
    script.answer('started it', { backgroundWork: 1 });
    script.say({ kind: 'transport_lost', why: 'scripted' });
    expect((await turn).answer).toBe('started it');
  });
});

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { TurnEvent } from '../spec/turn-event.js';
import { waitUntil } from '../time/wait-until.js';
import { LiveScript } from './live-script.js';
import { beginScripted } from './scripted-session.js';

let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'hf-steer-'));
});
afterEach(async () => {
  await rm(root, { recursive: true, force: true });
});

async function beginRunning(script: LiveScript) {
  const { turn } = await beginScripted(script.provider, 'build it', {
    stateDir: join(root, 'state'),
    transport: script.transport,
  });
  await waitUntil(() => script.provider.sent.length > 0, {
    awaiting: 'the message to be sent',
    deadlineMs: 20_000,
  });
  return { turn };
}

/** Steers until the turn was seen to be taken in: before that, a text is refused and nothing was put in. */
async function steerOnceTaken(
  turn: Awaited<ReturnType<typeof beginRunning>>['turn'],
  text: string,
) {
  return waitUntil(
    async () => {
      const result = await turn.steer(text);
      return result.outcome === 'refused' && result.detail.includes('not taken in')
        ? undefined
        : result;
    },
    { awaiting: 'the turn to be taken in', deadlineMs: 20_000 },
  );
}

describe('turn.steer', () => {
  it('puts a text into the running turn, under an id of its own, and tells what became of it', async () => {
    const script = new LiveScript();
    const { turn } = await beginRunning(script);
    expect(await steerOnceTaken(turn, 'faster')).toEqual(script.steerResult);
    expect(script.steered).toMatchObject([{ text: 'faster' }]);
    expect(script.steered[0]?.steerId).not.toBe(turn.turnId);
    script.answer('done');
    expect((await turn).answer).toBe('done');
  });

  it('does not take its own text for a stranger’s turn', async () => {
    const script = new LiveScript();
    const { turn } = await beginRunning(script);
    await steerOnceTaken(turn, 'faster');
    script.write({ type: 'message_accepted', text: 'faster', origin: 'user' });
    script.answer('done');
    await turn;
    const events: TurnEvent[] = [];
    for await (const event of turn) events.push(event);
    expect(events.map(({ type }) => type)).not.toContain('foreign_turn');
  });

  it('refuses, and puts nothing in, what the transport cannot take exactly', async () => {
    const script = new LiveScript();
    const { turn } = await beginRunning(script);
    await steerOnceTaken(turn, 'faster');
    expect(await turn.steer('!rm')).toMatchObject({ outcome: 'refused' });
    expect(await turn.steer('')).toMatchObject({ outcome: 'refused' });
    expect(await turn.steer('half \ud800')).toMatchObject({ outcome: 'refused' });
    expect(script.steered).toHaveLength(1);
    script.answer('done');
    await turn;
  });

  it('refuses when no turn runs any more', async () => {
    const script = new LiveScript();
    const { turn } = await beginRunning(script);
    script.answer('done');
    await turn;
    expect(await turn.steer('too late')).toMatchObject({ outcome: 'refused' });
    expect(script.steered).toEqual([]);
  });
});

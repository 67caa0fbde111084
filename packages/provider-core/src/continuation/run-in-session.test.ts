import { cpSync } from 'node:fs';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { isTurnError } from '../errors/turn-error.js';
import type { TurnEvent } from '../spec/turn-event.js';
import { setFaultHook } from '../state/fault-point.js';
import { beginScripted, type ScriptedTurnOptions, turnId } from './scripted-session.js';
import { ScriptedProvider } from './scripted-transport.js';

let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'hf-turn-'));
});
afterEach(async () => {
  setFaultHook(undefined);
  await rm(root, { recursive: true, force: true });
});

async function begin(
  provider: ScriptedProvider,
  text: string,
  request: Partial<ScriptedTurnOptions> = {},
) {
  return beginScripted(provider, text, { stateDir: join(root, 'state'), ...request });
}

async function send(...args: Parameters<typeof begin>) {
  return (await begin(...args)).turn;
}

async function collect(events: AsyncIterable<TurnEvent>): Promise<TurnEvent[]> {
  const seen: TurnEvent[] = [];
  try {
    for await (const event of events) seen.push(event);
  } catch (error) {
    if (!isTurnError(error)) throw error;
  }
  return seen;
}

describe('one message through the machine', () => {
  it('B103: is answered once and replayed byte for byte', async () => {
    const provider = new ScriptedProvider();
    const first = await send(provider, 'hello');
    const again = await send(provider, 'hello');
    expect(again.answer).toBe('heard: hello');
    expect({ ...again, handle: 0, recovered: 0 }).toEqual({ ...first, handle: 0, recovered: 0 });
    expect(provider.count('hello')).toBe(1);
    expect(provider.opened).toBe(1);
  });

  it('refuses another message under the same id', async () => {
    const provider = new ScriptedProvider();
    await send(provider, 'hello');
    await expect(send(provider, 'bye')).rejects.toMatchObject({ kind: 'turn_conflict' });
    expect(provider.sent).toEqual(['hello']);
  });

  it('emits its events in order without gaps, the final one last, to a late reader too', async () => {
    const { turn } = await begin(new ScriptedProvider(), 'hello');
    await turn;
    const events = await collect(turn);
    expect(events.map((event) => event.type)).toEqual([
      'resuming',
      'running',
      'answer',
      'quiescent',
      'completed',
    ]);
    expect(events.map((event) => event.sequence)).toEqual([0, 1, 2, 3, 4]);
    const tail = await collect(turn.events({ from: 3 }));
    expect(tail.map((event) => event.type)).toEqual(['quiescent', 'completed']);
  });

  it('refuses a text the transport cannot take before anything is journaled', async () => {
    const provider = new ScriptedProvider();
    await expect(send(provider, '!ls')).rejects.toMatchObject({
      kind: 'undeliverable_message',
      reason: 'shell',
    });
    await expect(send(provider, '')).rejects.toMatchObject({
      kind: 'undeliverable_message',
      reason: 'empty',
    });
    expect(provider.opened).toBe(0);
  });

  it('parks a failure of the provider, then nudges and never sends the message again', async () => {
    const provider = new ScriptedProvider();
    const answers = provider.respond;
    provider.respond = () => [
      {
        type: 'turn_failed',
        reason: 'rate_limited',
        detail: '429',
        resetAt: '2030-01-01T00:00:00Z',
      },
    ];
    await expect(send(provider, 'hello')).rejects.toMatchObject({
      kind: 'rate_limited',
      resetAt: '2030-01-01T00:00:00Z',
    });
    provider.respond = answers;
    const result = await send(provider, 'hello');
    expect(result.answer).toBe('heard: Continue.');
    expect(result.turnId).toBe(turnId);
    expect(provider.sent).toEqual(['hello', 'Continue.']);
    expect((await send(provider, 'hello')).answer).toBe('heard: Continue.');
    expect(provider.sent).toHaveLength(2);
  });

  it('settles a cut-off turn by policy: a typed error, or a nudge', async () => {
    const provider = new ScriptedProvider();
    const answers = provider.respond;
    provider.respond = () => {
      provider.process = { state: 'gone' };
      return [];
    };
    await expect(send(provider, 'hello')).rejects.toMatchObject({
      kind: 'turn_interrupted',
      accepted: true,
      inHistory: true,
    });
    provider.respond = answers;
    const result = await send(provider, 'hello', { onInterrupted: 'resume' });
    expect(result.answer).toBe('heard: Continue.');
    expect(provider.count('hello')).toBe(1);
  });

  it("makes the caller's own interrupt final", async () => {
    const provider = new ScriptedProvider();
    provider.respond = () => [];
    const { turn } = await begin(provider, 'hello');
    await turn.handle;
    await turn.interrupt();
    await expect(turn).rejects.toMatchObject({ kind: 'turn_interrupted' });
    await expect(send(provider, 'hello')).rejects.toMatchObject({ kind: 'turn_interrupted' });
    expect(provider.count('hello')).toBeLessThanOrEqual(1);
  });

  it('calls an unreadable record after submitting uncertain and sends nothing more', async () => {
    const provider = new ScriptedProvider();
    provider.respond = () => {
      provider.process = { state: 'gone' };
      provider.recordState = 'untrustworthy';
      return [];
    };
    await expect(send(provider, 'hello')).rejects.toMatchObject({
      kind: 'uncertain_delivery',
    });
    await expect(send(provider, 'hello')).rejects.toMatchObject({
      kind: 'uncertain_delivery',
    });
    expect(provider.sent).toEqual(['hello']);
  });

  it('does not send again what a living process said it took in, although its record lacks it', async () => {
    const provider = new ScriptedProvider();
    provider.onlySignals = true;
    await expect(send(provider, 'hello')).rejects.toMatchObject({ kind: 'uncertain_delivery' });
    expect(provider.sent).toEqual(['hello']);
  });

  it('B99: settles a turn that shows no sign of life at its deadline, and leaves it parked', async () => {
    const provider = new ScriptedProvider();
    provider.respond = () => {
      provider.process = { state: 'alive', activity: 'busy' };
      return [];
    };
    const limits = { inactivityMs: 1 };
    await expect(send(provider, 'hello', { limits })).rejects.toMatchObject({
      kind: 'timed_out',
      limitMs: 1,
      turnId,
    });
    provider.record.push({ type: 'turn_ended', answer: 'late', backgroundWork: 0 });
    expect((await send(provider, 'hello')).answer).toBe('late');
    expect(provider.sent).toEqual(['hello']);
  });

  it('B105: lets one of two callers at the same moment run; the other is told the owner', async () => {
    const provider = new ScriptedProvider();
    provider.respond = () => {
      provider.process = { state: 'alive', activity: 'busy' };
      return [];
    };
    const { turn: first } = await begin(provider, 'one');
    await first.handle;
    await expect(send(provider, 'two', { id: crypto.randomUUID() })).rejects.toMatchObject({
      kind: 'session_busy',
      owner: { kind: 'ours', pid: process.pid },
    });
    for await (const event of first) if (event.type === 'running') break;
    await first.interrupt();
    expect(provider.sent).toEqual(['one']);
  });
});

describe('B124: after a crash at any step', () => {
  it.each(['gone', 'idle'] as const)(
    'the message stands once in the record and is answered (process %s)',
    async (processAfter) => {
      const live = new ScriptedProvider();
      const snapshots: { step: string; dir: string; provider: ScriptedProvider }[] = [];
      setFaultHook((step) => {
        const dir = join(root, `at-${snapshots.length}-${step}`);
        cpSync(join(root, 'state'), dir, { recursive: true });
        snapshots.push({ step, dir, provider: live.copy() });
      });
      await send(live, 'hello');
      setFaultHook(undefined);
      const machineSteps = new Set(snapshots.map(({ step }) => step));
      for (const step of [
        'prepared',
        'opened',
        'before_submitting',
        'submitting',
        'submitted',
        'accepted',
        'answered',
        'before_ended',
        'ended',
      ]) {
        expect(machineSteps).toContain(step);
      }
      for (const { step, dir, provider } of snapshots) {
        provider.process =
          processAfter === 'gone' ? { state: 'gone' } : { state: 'alive', activity: 'idle' };
        await cp(dir, `${dir}-run`, { recursive: true });
        const result = await send(provider, 'hello', {
          stateDir: `${dir}-run`,
          onInterrupted: 'resume',
        });
        expect(result.answer, step).toBe('heard: hello');
        expect(provider.count('hello'), step).toBe(1);
      }
    },
    120_000,
  );
});

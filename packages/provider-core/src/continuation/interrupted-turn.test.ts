import { cpSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { setFaultHook } from '../state/fault-point.js';
import type { OpenSession, SessionTransport } from '../transports/session-transport.js';
import { beginScripted, type ScriptedTurnOptions, turnId } from './scripted-session.js';
import { ScriptedProvider, scriptedTransport } from './scripted-transport.js';

let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'hf-interrupt-'));
});
afterEach(async () => {
  setFaultHook(undefined);
  await rm(root, { recursive: true, force: true });
});

const begin = (
  provider: ScriptedProvider,
  text: string,
  request: Partial<ScriptedTurnOptions> = {},
) => beginScripted(provider, text, { stateDir: join(root, 'state'), ...request });

const send = async (...args: Parameters<typeof begin>) => (await begin(...args)).turn;

/** The scripted transport with parts of its open session replaced. */
function transportWith(
  provider: ScriptedProvider,
  change: (open: OpenSession) => Partial<OpenSession>,
): SessionTransport {
  const plain = scriptedTransport(provider);
  return {
    ...plain,
    open: async (context, request) => {
      const open = await plain.open(context, request);
      return { ...open, ...change(open) };
    },
  };
}

/** A state directory as a crash at `step` leaves it. */
async function crashAt(step: string, provider: ScriptedProvider, text: string): Promise<string> {
  setFaultHook((at) => {
    if (at === step) cpSync(join(root, 'live'), join(root, step), { recursive: true });
    if (at === step) throw new Error(`unreachable: crashed at ${step}`);
  });
  await send(provider, text, { stateDir: join(root, 'live') }).catch(() => undefined);
  setFaultHook(undefined);
  return join(root, step);
}

describe('a second try that is killed before it sends', () => {
  it('does not make the first one forgotten: what came in late is found, and sent no more', async () => {
    const provider = new ScriptedProvider();
    const stateDir = await crashAt('submitting', provider, 'hello');
    provider.process = { state: 'alive', activity: 'idle' };
    setFaultHook((step) => {
      if (step === 'prepared') throw new Error('unreachable: killed again');
    });
    await expect(send(provider, 'hello', { stateDir })).rejects.toThrow('killed again');
    setFaultHook(undefined);
    provider.take('hello');
    expect((await await send(provider, 'hello', { stateDir })).answer).toBe('heard: hello');
    expect(provider.count('hello')).toBe(1);
  });

  it('finds what came in between its look and its new cursor', async () => {
    const provider = new ScriptedProvider();
    const stateDir = await crashAt('submitting', provider, 'hello');
    provider.process = { state: 'alive', activity: 'idle' };
    const transport = transportWith(provider, (open) => ({
      takeCursor: async () => {
        if (provider.count('hello') === 0) provider.take('hello');
        return open.takeCursor();
      },
    }));
    const result = await await send(provider, 'hello', { stateDir, transport });
    expect(result.answer).toBe('heard: hello');
    expect(provider.count('hello')).toBe(1);
  });
});

describe('an interrupt', () => {
  it('that cuts the sending short tells what the record says, never that nothing was sent', async () => {
    const provider = new ScriptedProvider();
    provider.respond = () => [];
    const stop = new AbortController();
    const transport = transportWith(provider, () => ({
      submit: async ({ text, signal }) => {
        provider.take(text);
        stop.abort();
        signal.throwIfAborted();
      },
    }));
    await expect(send(provider, 'hello', { transport, signal: stop.signal })).rejects.toMatchObject(
      { kind: 'turn_interrupted', accepted: true, inHistory: true },
    );
  });

  it('waits for the record of a message that was just taken in', async () => {
    const provider = new ScriptedProvider();
    provider.respond = () => [];
    const stop = new AbortController();
    let interrupts = 0;
    const transport = transportWith(provider, () => ({
      submit: async () => stop.abort(),
      interrupt: async () => {
        interrupts += 1;
        if (interrupts === 1) provider.take('hello');
        else provider.record.push({ type: 'turn_interrupted' });
      },
    }));
    let looks = 0;
    const late: SessionTransport = {
      ...transport,
      readRecord: async (context, since) => {
        looks += 1;
        return looks === 1
          ? { state: 'readable', events: [] }
          : transport.readRecord(context, since);
      },
    };
    await expect(
      send(provider, 'hello', { transport: late, signal: stop.signal }),
    ).rejects.toMatchObject({ kind: 'turn_interrupted', accepted: true });
    expect(interrupts).toBe(2);
  });

  it('reaches the turn that an earlier process left running', async () => {
    const provider = new ScriptedProvider();
    provider.respond = () => [];
    const stateDir = await crashAt('accepted', provider, 'hello');
    provider.process = { state: 'alive', activity: 'busy' };
    await expect(
      send(provider, 'hello', { stateDir, signal: AbortSignal.abort() }),
    ).rejects.toMatchObject({ kind: 'turn_interrupted', accepted: true });
    expect(provider.record.at(-1)).toEqual({ type: 'turn_interrupted' });
    expect(provider.count('hello')).toBe(1);
  });

  it('of a nudge says that the message itself was taken in', async () => {
    const provider = new ScriptedProvider();
    provider.respond = () => {
      provider.process = { state: 'gone' };
      return [];
    };
    await expect(send(provider, 'hello')).rejects.toMatchObject({ accepted: true });
    const stop = new AbortController();
    setFaultHook((step) => {
      if (step === 'opened') stop.abort();
    });
    await expect(
      send(provider, 'hello', { onInterrupted: 'resume', signal: stop.signal }),
    ).rejects.toMatchObject({ kind: 'turn_interrupted', accepted: true, turnId });
    expect(provider.sent).toEqual(['hello']);
  });
});

describe('a nudge', () => {
  it('that cannot be delivered leaves its turn parked, for another nudge', async () => {
    const provider = new ScriptedProvider();
    const answers = provider.respond;
    provider.respond = () => {
      provider.process = { state: 'gone' };
      return [];
    };
    await expect(send(provider, 'hello')).rejects.toMatchObject({ accepted: true });
    const transport = transportWith(provider, () => ({
      submit: async ({ text }) => {
        provider.record.push({ type: 'message_blocked', text, reason: 'not now' });
      },
    }));
    const resume = { onInterrupted: 'resume', nudge: 'go on' } as const;
    await expect(send(provider, 'hello', { ...resume, transport })).rejects.toMatchObject({
      kind: 'turn_interrupted',
      accepted: true,
    });
    provider.respond = answers;
    expect((await await send(provider, 'hello', resume)).answer).toBe('heard: go on');
    expect(provider.count('hello')).toBe(1);
  });

  it('makes a turn go on that ended without an answer, once that was told', async () => {
    const provider = new ScriptedProvider();
    const answers = provider.respond;
    provider.respond = () => [{ type: 'turn_ended', answer: ' ', backgroundWork: 0 }];
    await expect(send(provider, 'hello')).rejects.toMatchObject({ kind: 'provider_failed' });
    provider.respond = answers;
    expect((await await send(provider, 'hello')).answer).toBe('heard: Continue.');
    expect(provider.sent).toEqual(['hello', 'Continue.']);
  });
});

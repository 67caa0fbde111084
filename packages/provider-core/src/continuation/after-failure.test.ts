import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { setFaultHook } from '../state/fault-point.js';
import type { SessionTransport } from '../transports/session-transport.js';
import { beginScripted, type ScriptedTurnOptions } from './scripted-session.js';
import { ScriptedProvider, scriptedTransport } from './scripted-transport.js';

let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'hf-turn-'));
});
afterEach(async () => {
  setFaultHook(undefined);
  await rm(root, { recursive: true, force: true });
});

async function send(
  provider: ScriptedProvider,
  text: string,
  request: Partial<ScriptedTurnOptions> = {},
) {
  const options = { stateDir: join(root, 'state'), ...request };
  return (await beginScripted(provider, text, options)).turn;
}

async function readJournal(): Promise<string> {
  const entries = await readdir(root, { recursive: true });
  const name = entries.find((entry) => entry.endsWith('.journal.jsonl')) ?? '';
  return readFile(join(root, name), 'utf8');
}

describe('a turn that failed', () => {
  it('B93: leaves its session free, whatever it was that could not be opened', async () => {
    const provider = new ScriptedProvider();
    const opens = scriptedTransport(provider);
    const broken: SessionTransport = {
      ...opens,
      open: async () => {
        throw new TypeError('scripted: no connection');
      },
    };
    await expect(send(provider, 'one', { transport: broken })).rejects.toThrow('no connection');
    await expect(
      send(provider, 'two', { transport: broken, id: crypto.randomUUID() }),
    ).rejects.toThrow('no connection');
    const turn = await send(provider, 'three', { id: crypto.randomUUID() });
    expect(turn.answer).toBe('heard: three');
    expect((await send(provider, 'one')).answer).toBe('heard: one');
  });

  it('B123: has its attempt on disk before the message leaves, and counts on after a crash', async () => {
    const provider = new ScriptedProvider();
    const seen: string[] = [];
    setFaultHook((step) => {
      if (step !== 'submitting') return;
      throw new TypeError('scripted: killed');
    });
    for (const _ of [1, 2]) {
      await expect(send(provider, 'once')).rejects.toThrow('killed');
      expect(provider.sent).toEqual([]);
      provider.process = { state: 'gone' };
      seen.push(...(await readJournal()).split('\n').filter((line) => line.includes('submitting')));
    }
    setFaultHook(undefined);
    await send(provider, 'once');
    const attempts = [...(await readJournal()).matchAll(/"submitting".*?"attempt":(\d+)/g)];
    expect(attempts.map(([, attempt]) => Number(attempt))).toEqual([1, 2, 3]);
    expect(provider.sent).toEqual(['once']);
  });
});

describe('an end that is told twice', () => {
  it('B89: ends its turn once, and none that follows', async () => {
    const provider = new ScriptedProvider();
    const answers = provider.respond;
    provider.respond = (text) => [...answers(text), ...answers(text)];
    const first = await send(provider, 'one');
    const { turn } = await beginScripted(provider, 'two', {
      stateDir: join(root, 'state'),
      id: crypto.randomUUID(),
    });
    expect([first.answer, (await turn).answer]).toEqual(['heard: one', 'heard: two']);
    const types: string[] = [];
    for await (const { type } of turn) types.push(type);
    expect(types.filter((type) => type === 'completed')).toHaveLength(1);
  });
});

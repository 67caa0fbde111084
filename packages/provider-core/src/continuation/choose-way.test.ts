import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { setFaultHook } from '../state/fault-point.js';
import type { SessionTransport } from '../transports/session-transport.js';
import { beginScripted, type ScriptedTurnOptions } from './scripted-session.js';
import { ScriptedProvider, scriptedTransport } from './scripted-transport.js';

let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'hf-way-'));
  await mkdir(join(root, 'bin'));
  await writeFile(join(root, 'bin', 'tmux'), '#!/bin/sh\n', { mode: 0o700 });
  vi.stubEnv('PATH', join(root, 'bin'));
});
afterEach(async () => {
  vi.unstubAllEnvs();
  setFaultHook(undefined);
  await rm(root, { recursive: true, force: true });
});

/** One session with a pane that refuses `!…`, and a protocol that takes everything. */
class TwoWays {
  readonly pane = new ScriptedProvider();
  readonly protocol = new ScriptedProvider();
  readonly ended: string[] = [];
  readonly tmux: SessionTransport = this.#ending('tmux', this.pane);
  readonly structured: SessionTransport = {
    ...this.#ending('structured', this.protocol),
    findRefusal: async (_context, text) =>
      text.startsWith('/') ? { reason: 'command', detail: 'It would act.' } : undefined,
  };

  #ending(name: string, provider: ScriptedProvider): SessionTransport {
    return {
      ...scriptedTransport(provider),
      end: async () => {
        this.ended.push(name);
        provider.process = { state: 'gone' };
        return { ended: 1, left: [], archived: false };
      },
    };
  }

  async send(text: string, options: Partial<ScriptedTurnOptions> = {}) {
    const { turn } = await beginScripted(this.pane, text, {
      stateDir: join(root, 'state'),
      transport: this.tmux,
      structured: this.structured,
      choice: 'auto',
      id: crypto.randomUUID(),
      ...options,
    });
    return await turn;
  }
}

describe('the way of a turn', () => {
  it('is the pane where it takes the message exactly, and the protocol for what it cannot', async () => {
    const ways = new TwoWays();
    expect((await ways.send('hello')).handle.transport).toBe('tmux');
    expect((await ways.send('!ls')).handle.transport).toBe('structured');
    expect((await ways.send('bye')).handle.transport).toBe('tmux');
    expect(ways.pane.sent).toEqual(['hello', 'bye']);
    expect(ways.protocol.sent).toEqual(['!ls']);
  });

  it('has one process at a time: the idle one of the other way is ended first', async () => {
    const ways = new TwoWays();
    await ways.send('hello');
    await ways.send('!ls');
    expect(ways.ended).toEqual(['tmux']);
    expect(ways.pane.process).toEqual({ state: 'gone' });
    await ways.send('bye');
    expect(ways.ended).toEqual(['tmux', 'structured']);
  });

  it('ends nothing where both ways share one server', async () => {
    const ways = new TwoWays();
    const shared = {
      transport: { ...ways.tmux, processes: 'served' },
      structured: { ...ways.structured, processes: 'served' },
    };
    await ways.send('hello', shared);
    await ways.send('!ls', shared);
    expect(ways.ended).toEqual([]);
  });

  it('waits for a turn that runs in the other way, and never ends it', async () => {
    const ways = new TwoWays();
    await ways.send('hello');
    ways.pane.process = { state: 'alive', activity: 'busy' };
    const limits = { busyMs: 1 };
    await expect(ways.send('!ls', { limits })).rejects.toMatchObject({ kind: 'timed_out' });
    expect(ways.ended).toEqual([]);
    expect(ways.protocol.sent).toEqual([]);
  });

  it('is the one asked for, and what that one cannot take is refused', async () => {
    const ways = new TwoWays();
    await expect(ways.send('!ls', { choice: 'tmux' })).rejects.toMatchObject({ reason: 'shell' });
    const { handle } = await ways.send('hello', { choice: 'structured' });
    expect(handle.transport).toBe('structured');
  });

  it('never drops an image: a way that takes none refuses it, and another one carries it', async () => {
    const ways = new TwoWays();
    const image = { type: 'image', mediaType: 'image/png', data: 'aGVyb24=' } as const;
    const images = [image];
    await expect(ways.send('look', { images, choice: 'tmux' })).rejects.toMatchObject({
      reason: 'unsupported_image',
    });
    expect((await ways.send('look', { images })).handle.transport).toBe('structured');
    expect(ways.pane.sent).toEqual([]);
  });

  it('gives the pane’s reason for what no way can take', async () => {
    const ways = new TwoWays();
    const structured = {
      ...ways.structured,
      findRefusal: async () => ({ reason: 'command', detail: 'It would act.' }),
    };
    await expect(ways.send('!ls', { structured })).rejects.toMatchObject({ reason: 'shell' });
    expect([...ways.pane.sent, ...ways.protocol.sent]).toEqual([]);
  });

  it('is the protocol where tmux is not installed', async () => {
    vi.stubEnv('PATH', join(root, 'nothing'));
    const ways = new TwoWays();
    expect((await ways.send('hello')).handle.transport).toBe('structured');
    expect(ways.pane.sent).toEqual([]);
  });

  it('stays the one a message was put in, whatever the caller asks when it comes back', async () => {
    const ways = new TwoWays();
    const id = crypto.randomUUID();
    setFaultHook((point) => {
      if (point === 'submitted') throw new TypeError('the service died');
    });
    await expect(ways.send('hello', { id, choice: 'structured' })).rejects.toThrow();
    setFaultHook(undefined);
    const result = await ways.send('hello', { id, choice: 'tmux' });
    expect(result.answer).toBe('heard: hello');
    expect(ways.protocol.sent).toEqual(['hello']);
    expect(ways.pane.sent).toEqual([]);
  });
});

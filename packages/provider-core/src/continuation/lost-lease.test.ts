import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { BlockedError } from '../errors/turn-error.js';
import { leaseDir, stateLayout } from '../state/state-layout.js';
import type { SessionTransport } from '../transports/session-transport.js';
import { beginScripted, nativeSessionId, turnId } from './scripted-session.js';
import { ScriptedProvider, scriptedTransport } from './scripted-transport.js';

let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'hf-lease-'));
});
afterEach(() => rm(root, { recursive: true, force: true }));

describe('an owner that lost its lease', () => {
  it('writes no further step and leaves the launch record as it was', async () => {
    const provider = new ScriptedProvider();
    const plain = scriptedTransport(provider);
    const stateDir = join(root, 'state');
    const layout = stateLayout(stateDir);
    const record = layout.launchRecord('scripted', nativeSessionId);
    let before = '';
    const transport: SessionTransport = {
      ...plain,
      open: async (context, request) => {
        const open = await plain.open(context, request);
        return {
          ...open,
          submit: async (submit) => {
            await open.submit(submit);
            const leases = leaseDir(join(root, 'home'), nativeSessionId);
            await writeFile(join(leases, '99'), '{}');
            before = await readFile(record, 'utf8');
          },
        };
      },
    };
    const { turn } = await beginScripted(provider, 'hello', { stateDir, transport });
    await expect(turn).rejects.toMatchObject({ kind: 'session_busy', owner: { kind: 'ours' } });
    const journal = await readFile(layout.turnJournal('scripted', nativeSessionId, turnId), 'utf8');
    expect(journal.match(/"step":"\w+"/g)).toEqual(['"step":"prepared"', '"step":"submitting"']);
    expect(await readFile(record, 'utf8')).toBe(before);
    expect(await readdir(layout.turnsDir('scripted', nativeSessionId))).toHaveLength(2);
  });

  it('interrupts nothing: what runs by then is another owner’s', async () => {
    const provider = new ScriptedProvider();
    provider.respond = () => [];
    const plain = scriptedTransport(provider);
    let interrupts = 0;
    const caller = new AbortController();
    const transport: SessionTransport = {
      ...plain,
      open: async (context, request) => ({
        ...(await plain.open(context, request)),
        submit: async () => {
          const leases = leaseDir(join(root, 'home'), nativeSessionId);
          await writeFile(join(leases, '99'), '{}');
          caller.abort();
        },
        interrupt: async () => {
          interrupts += 1;
        },
      }),
    };
    const { signal } = caller;
    const stateDir = join(root, 'state');
    const { turn } = await beginScripted(provider, 'hello', { stateDir, transport, signal });
    await expect(turn).rejects.toMatchObject({ kind: 'session_busy', owner: { kind: 'ours' } });
    expect(interrupts).toBe(0);
  });
});

describe('the status of a handle', () => {
  it('is active in the error of a turn whose process still works on it', async () => {
    const provider = new ScriptedProvider();
    const plain = scriptedTransport(provider);
    const transport: SessionTransport = {
      ...plain,
      open: async (context, request) => ({
        ...(await plain.open(context, request)),
        submit: async () => {
          provider.process = { state: 'alive', activity: 'waiting' };
          throw new BlockedError('unknown', 'a page');
        },
      }),
    };
    const stateDir = join(root, 'state');
    const { turn } = await beginScripted(provider, 'hello', { stateDir, transport });
    await expect(turn).rejects.toMatchObject({ kind: 'blocked', handle: { status: 'active' } });
  });
});

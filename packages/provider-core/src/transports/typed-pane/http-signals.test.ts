import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { claudeCode } from '../../providers/claude-code/index.js';
import type { PaneSignal } from '../../spec/typed-pane.js';
import type { SessionContext } from '../session-transport.js';
import { createSignalUrl, hearSignals } from './http-signals.js';

const way = claudeCode.transports.tmux;
if (way?.kind !== 'typed_pane') throw new Error('unreachable: it is typed');
let filesDir: string;
let context: SessionContext;

beforeEach(() => {
  filesDir = mkdtempSync(join(tmpdir(), 'holdfast-signals-'));
  context = { filesDir } as SessionContext;
});

afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(filesDir, { recursive: true });
});

const post = (url: string, body: string) => fetch(`${url}/Stop`, { method: 'POST', body });

describe('the http signals', () => {
  it('tells whoever hears the session, at the address its settings name', async () => {
    const url = (await createSignalUrl(context)) ?? '';
    expect(readFileSync(join(filesDir, 'signal-address'), 'utf8')).toBe(url);
    const heard: PaneSignal[] = [];
    const deafen = await hearSignals(way, context, (signal) => heard.push(signal));
    expect((await post(url, '{"last_assistant_message":"done"}')).status).toBe(200);
    expect(heard).toMatchObject([{ event: { type: 'turn_ended', answer: 'done' } }]);
    deafen();
    expect((await post(url, '{"last_assistant_message":"more"}')).status).toBe(200);
    expect(heard).toHaveLength(1);
  });

  it('tells nobody what comes without the token, or is no JSON', async () => {
    const url = (await createSignalUrl(context)) ?? '';
    const heard: PaneSignal[] = [];
    await hearSignals(way, context, (signal) => heard.push(signal));
    await post(url.replace(/[0-9a-f]{32}$/, '0'.repeat(32)), '{}');
    expect((await post(url, 'not json')).status).toBe(400);
    expect(heard).toEqual([]);
  });

  it('can be switched off', async () => {
    vi.stubEnv('HOLDFAST_HTTP_SIGNALS', 'off');
    expect(await createSignalUrl(context)).toBeUndefined();
  });
});

import { mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { waitUntil } from '../../time/wait-until.js';
import { openTmuxServer } from './open-tmux-server.js';
import type { OpenPaneRequest } from './pane-scripts.js';
import type { TmuxServer } from './tmux-server.js';

let dir: string;
let server: TmuxServer;

beforeEach(async () => {
  dir = await realpath(await mkdtemp(join(tmpdir(), 'hf-')));
  server = await openTmuxServer({ socketPath: join(dir, 'a.s') });
});

afterEach(async () => {
  vi.unstubAllEnvs();
  await server.killServer();
  await server[Symbol.asyncDispose]();
  await rm(dir, { recursive: true, force: true });
});

function request(changes: Partial<OpenPaneRequest> = {}): OpenPaneRequest {
  return {
    sessionName: 'work',
    argv: ['/bin/cat'],
    env: { PATH: '/usr/bin:/bin' },
    workingDir: dir,
    nonce: 'nonce-1',
    leaseToken: '1',
    ...changes,
  };
}

async function untilFile(name: string, isComplete: (text: string) => boolean): Promise<string> {
  return waitUntil(
    async () => {
      const text = await readFile(join(dir, name), 'utf8').catch(() => '');
      return isComplete(text) && text;
    },
    { awaiting: `${name} to be complete`, deadlineMs: 20_000 },
  );
}

/** A program that asks for bracketed pastes and writes down every byte it gets. */
async function openRecorder(changes: Partial<OpenPaneRequest> = {}) {
  const script = [
    "import { appendFileSync } from 'node:fs';",
    'process.stdin.setRawMode(true);',
    "process.stdin.on('data', (bytes) => appendFileSync('typed', bytes));",
    "process.stdout.write('\\u001b[?2004hREADY');",
  ].join('\n');
  await writeFile(join(dir, 'recorder.mjs'), script);
  const argv = [process.execPath, join(dir, 'recorder.mjs')];
  const pane = await server.openPane(request({ argv, ...changes }));
  // Shown after the request for brackets, so tmux has read that one too.
  await waitUntil(async () => (await server.capture(pane.paneId)).includes('READY'), {
    awaiting: 'the recorder to be ready',
    deadlineMs: 20_000,
  });
  return pane;
}

describe('TmuxServer', () => {
  it('gives a pane exactly the environment it was asked to, whatever surrounds us', async () => {
    const env = { PATH: '/usr/bin:/bin', ODD: 'a#{pid} "$HOME" ~\\ \n;{}%H 漢', HOME: dir };
    const argv = ['/bin/sh', '-c', 'env -0 > seen.part && mv seen.part seen'];
    await server.openPane(request({ argv, env }));
    const seen = await untilFile('seen', (text) => text !== '');
    const entries = seen.split('\0').filter((entry) => entry && !/^(?:PWD|SHLVL|_)=/.test(entry));
    const { TERM, ...rest } = Object.fromEntries(
      entries.map((entry) => [entry.split('=')[0], entry.slice(entry.indexOf('=') + 1)]),
    );
    expect(rest).toEqual(env);
    expect(TERM).toMatch(/^(?:tmux|screen)/);
  });

  it('pastes one megabyte of Unicode byte for byte', async () => {
    const { paneId } = await openRecorder();
    const text = `-漢字 é 🎉 "$HOME" #{pid} ~ \\ ;{}\n\ttab\n`.repeat(25_000);
    expect(await server.paste(paneId, text, { token: '1' })).toBe('written');
    const bytes = Buffer.byteLength(text);
    const typed = await untilFile('typed', (seen) => Buffer.byteLength(seen) >= bytes + 12);
    expect(typed === `\u001b[200~${text}\u001b[201~`).toBe(true);
  });

  it('types nothing for a stale token and keeps no buffer of its text', async () => {
    const { paneId } = await openRecorder();
    await server.setLeaseToken(paneId, '2');
    expect(await server.paste(paneId, 'stale', { token: '1' })).toBe('fenced');
    expect(await server.sendKey(paneId, 'Enter', { token: '1' })).toBe('fenced');
    expect(await server.sendKey(paneId, 'C-u', { token: '2' })).toBe('written');
    expect(await untilFile('typed', (seen) => seen !== '')).toBe('\u0015');
  });
});

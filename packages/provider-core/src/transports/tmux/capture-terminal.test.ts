import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { silentLogger } from '../../spec/logger.js';
import { waitUntil } from '../../time/wait-until.js';
import { endServer } from './__fixtures__/end-server.js';
import { captureTerminal, keepNewest } from './capture-terminal.js';
import { openTmuxServer } from './open-tmux-server.js';
import { findServerProcess } from './server-process.js';

let dir: string;
let tmuxSocket: string;
beforeEach(async () => {
  dir = await realpath(await mkdtemp(join(tmpdir(), 'hf-')));
  tmuxSocket = join(dir, 'a.s');
});
afterEach(async () => {
  await endServer(tmuxSocket);
  await rm(dir, { recursive: true, force: true });
});

const capture = (nonce: string) => captureTerminal({ tmuxSocket, nonce, logger: silentLogger });

describe('captureTerminal', () => {
  it('reads what scrolled away and the screen of the pane with that nonce, also after its program ended', async () => {
    await using server = await openTmuxServer({ socketPath: tmuxSocket });
    const pane = await server.openPane({
      sessionName: 'work',
      argv: [
        '/bin/sh',
        '-c',
        'i=0; while [ $i -lt 60 ]; do i=$((i+1)); echo "line $i"; done; read end',
      ],
      env: { PATH: '/usr/bin:/bin' },
      workingDir: dir,
      nonce: 'ours',
      leaseToken: '1',
      keepWhenDead: true,
    });
    const captured = await waitUntil(
      async () => {
        const found = await capture('ours');
        return found?.text.includes('line 60') ? found : undefined;
      },
      { awaiting: 'the last line', deadlineMs: 10_000 },
    );
    expect(captured.text.split('\n')).toEqual(
      Array.from({ length: 60 }, (_none, index) => `line ${index + 1}`),
    );
    expect(captured.terminalId).toBe(`ours${pane.paneId}.${pane.pid}`);
    await server.pasteParts(pane.paneId, [{ key: 'Enter' }], { token: '1' });
    await waitUntil(
      async () => {
        const found = await server.findPane({ nonce: 'ours' });
        return found.state === 'present' && found.dead;
      },
      { awaiting: 'the end of the program', deadlineMs: 10_000 },
    );
    expect((await capture('ours'))?.text).toContain('line 60');
  });

  it('is undefined for a nonce nobody carries, and starts no server', async () => {
    expect(await capture('ours')).toBeUndefined();
    expect((await findServerProcess(tmuxSocket)).state).not.toBe('alive');
    await using server = await openTmuxServer({ socketPath: tmuxSocket });
    expect(server.pid).toBeGreaterThan(1);
    expect(await capture('ours')).toBeUndefined();
  });
});

describe('keepNewest', () => {
  it('keeps whole lines from the end, 10,000 of them and 512 KiB at most', () => {
    const many = Array.from({ length: 12_000 }, (_none, index) => `${index}`).join('\n');
    expect(keepNewest(many).split('\n')).toHaveLength(10_000);
    const long = Array.from({ length: 1_000 }, () => 'ä'.repeat(1_000)).join('\n');
    const kept = keepNewest(`${long}\nlast\n\n\n`);
    expect(Buffer.byteLength(kept)).toBeLessThanOrEqual(512 * 1024);
    expect(kept.endsWith('\nlast')).toBe(true);
    expect(kept.split('\n').every((line) => line === 'last' || line.length === 1_000)).toBe(true);
  });
});

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { waitUntil } from '../../time/wait-until.js';
import { endServer } from './__fixtures__/end-server.js';
import { openTmuxServer } from './open-tmux-server.js';
import type { OpenPaneRequest } from './pane-scripts.js';
import { createTmuxClient } from './tmux-client.js';
import type { TmuxServer } from './tmux-server.js';

let dir: string;
let server: TmuxServer;

beforeEach(async () => {
  dir = await realpath(await mkdtemp(join(tmpdir(), 'hf-')));
  vi.stubEnv('HOME', dir);
});

afterEach(async () => {
  vi.unstubAllEnvs();
  await server[Symbol.asyncDispose]();
  await endServer(join(dir, 'a.s'));
  await rm(dir, { recursive: true, force: true });
});

async function openServer(): Promise<void> {
  server = await openTmuxServer({ socketPath: join(dir, 'a.s') });
}

/** Runs tmux as a person at our socket could. */
async function asPerson(script: string, socket = 'a.s'): Promise<readonly string[]> {
  const { lines, error } = await createTmuxClient({ socketPath: join(dir, socket) }).runScript(
    script,
  );
  if (error !== undefined) throw new Error(error);
  return lines;
}

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

function untilTrue(awaiting: string, probe: () => Promise<boolean>): Promise<unknown> {
  return waitUntil(probe, { awaiting, deadlineMs: 20_000 });
}

function attachTiny(session: string): ChildProcess {
  const args = ['-S', join(dir, 'a.s'), '-N', '-C', 'attach-session', '-t', `=${session}`];
  const client = spawn('tmux', args, { stdio: ['pipe', 'ignore', 'ignore'] });
  client.stdin.write('refresh-client -C 2x1\n');
  return client;
}

describe('what a person does to our panes', () => {
  it('B22: a shell put in the place of the program is none of ours, and gets no key', async () => {
    await openServer();
    const { paneId } = await server.openPane(request());
    await asPerson(`respawn-pane -k -t ${paneId} -- /usr/bin/env cat`);
    expect(await server.findPane({ nonce: 'nonce-1' })).toEqual({ state: 'absent' });
    expect(await server.paste(paneId, 'rm -rf .', { token: '1' })).not.toBe('written');
    expect((await server.capture(paneId)).trim()).toBe('');
    const again = await server.openPane(request());
    expect(await server.findPane({ nonce: 'nonce-1' })).toMatchObject({ paneId: again.paneId });
  });

  it('B67: a tiny client makes no pane tiny, neither one that is there nor a new one', async () => {
    await openServer();
    const first = await server.openPane(request({ columns: 131, rows: 41 }));
    const client = attachTiny(first.sessionName);
    const gone = once(client, 'close');
    try {
      await untilTrue('the tiny client', async () =>
        (await asPerson('list-clients -F "#{client_width}"')).includes('2'),
      );
      const argv = ['/bin/sh', '-c', 'stty size > seen; exec cat'];
      await server.openPane(request({ argv, nonce: 'nonce-2', columns: 131, rows: 41 }));
      await untilTrue('the size', async () => existsSync(join(dir, 'seen')));
      const sizes = await asPerson(
        'list-panes -a -F "#{session_name} #{pane_width}x#{pane_height}"',
      );
      expect(sizes.filter((line) => line.startsWith('work'))).toEqual([
        'work 131x41',
        'work-nonce-2 131x41',
      ]);
    } finally {
      client.kill('SIGKILL');
      await gone;
    }
  });

  it('B68: whoever attaches and is killed leaves the size of the pane as it was', async () => {
    await openServer();
    const { sessionName } = await server.openPane(request({ columns: 131, rows: 41 }));
    const client = attachTiny(sessionName);
    const gone = once(client, 'close');
    await untilTrue('the tiny client', async () =>
      (await asPerson('list-clients -F "#{client_width}"')).includes('2'),
    );
    client.kill('SIGKILL');
    await gone;
    const read = '"#{window_width}x#{window_height} #{window-size}"';
    const [shown] = await asPerson(`display-message -p -t =${sessionName}: ${read}`);
    expect(shown).toContain('131x41');
  });
});

describe('variables that a person sets in our tmux', () => {
  it('B77: reach no pane, neither those of the server nor those of a session', async () => {
    await openServer();
    await asPerson('set-environment -g SOMEBODYS_KEY leak ; set-environment -gh HIDDEN_KEY leak');
    const argv = ['/bin/sh', '-c', 'env > seen.part && mv seen.part seen; exec cat'];
    await server.openPane(request({ argv, env: { PATH: '/usr/bin:/bin', OURS: '1' } }));
    await untilTrue('the variables', async () => existsSync(join(dir, 'seen')));
    const seen = await readFile(join(dir, 'seen'), 'utf8');
    expect(seen).toContain('OURS=1');
    expect(seen).not.toContain('leak');
  });
});

describe("a person's own tmux", () => {
  it('B78: has settings that our server never reads', async () => {
    const canary = join(dir, 'was-read');
    await writeFile(
      join(dir, '.tmux.conf'),
      `run-shell "touch ${canary}"\nset -g base-index 7\nset -g destroy-unattached on\n`,
    );
    await openServer();
    await server.openPane(request());
    expect(await asPerson('list-windows -t =work -F "#{window_index}"')).toEqual(['0']);
    expect(existsSync(canary)).toBe(false);
  });

  it('B80: is left alone by a service that runs inside it', async () => {
    const outer = createTmuxClient({ socketPath: join(dir, 'outer.s') });
    await outer.startServer();
    try {
      const look = () =>
        asPerson('list-panes -a -F "#{session_name} #{pane_id} #{pane_pid}"', 'outer.s');
      const before = await look();
      const [pid] = await asPerson('display-message -p "#{pid}"', 'outer.s');
      vi.stubEnv('TMUX', `${join(dir, 'outer.s')},${pid},0`);
      vi.stubEnv('TMUX_PANE', '%0');
      await openServer();
      const { paneId } = await server.openPane(request());
      expect(await server.killPane(paneId)).toBe('killed');
      expect(await look()).toEqual(before);
      expect(await asPerson('list-clients', 'outer.s')).toEqual([]);
    } finally {
      await asPerson('kill-server', 'outer.s');
    }
  });
});

describe('the brackets of a paste', () => {
  it.each([
    ['asked for them', '\\u001b[?2004h', '\u001b[200~-a\u001b[201~'],
    ['did not', '', '-a'],
  ])('B52: are put by tmux, where the program %s', async (_case, mode, expected) => {
    await openServer();
    const script = [
      "import { appendFileSync } from 'node:fs';",
      'process.stdin.setRawMode(true);',
      "process.stdin.on('data', (bytes) => appendFileSync('typed', bytes));",
      `process.stdout.write('${mode}READY');`,
    ].join('\n');
    await writeFile(join(dir, 'recorder.mjs'), script);
    const argv = [process.execPath, join(dir, 'recorder.mjs')];
    const { paneId } = await server.openPane(request({ argv }));
    await untilTrue('the recorder', async () => (await server.capture(paneId)).includes('READY'));
    expect(await server.paste(paneId, '-a', { token: '1' })).toBe('written');
    await server.sendKey(paneId, 'Enter', { token: '1' });
    const typed = () => readFile(join(dir, 'typed'), 'utf8').catch(() => '');
    await untilTrue('the Enter', async () => (await typed()).endsWith('\r'));
    expect(await typed()).toBe(`${expected}\r`);
  });
});

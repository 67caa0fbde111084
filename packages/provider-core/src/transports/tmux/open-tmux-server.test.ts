import { chmod, mkdtemp, readFile, realpath, rm, unlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readProcessStatus } from '../../state/process-identity.js';
import { waitUntil } from '../../time/wait-until.js';
import { endServer } from './__fixtures__/end-server.js';
import { observeTmuxServer } from './observe-tmux-server.js';
import { findTmuxServer, openTmuxServer } from './open-tmux-server.js';
import { createFencedScript } from './pane-scripts.js';
import { findServerProcess } from './server-process.js';
import { createTmuxClient } from './tmux-client.js';
import type { TmuxServer } from './tmux-server.js';

let dir: string;
let socketPath: string;
const opened: TmuxServer[] = [];

beforeEach(async () => {
  dir = await realpath(await mkdtemp(join(tmpdir(), 'hf-')));
  socketPath = join(dir, 'a.s');
});

afterEach(async () => {
  await endServer(socketPath);
  await Promise.all(opened.splice(0).map((one) => one[Symbol.asyncDispose]()));
  await rm(dir, { recursive: true, force: true });
});

async function open(tmuxBinary?: string): Promise<TmuxServer> {
  const server = await openTmuxServer({ socketPath, tmuxBinary });
  opened.push(server);
  return server;
}

function request(nonce: string, sessionName = 'work') {
  const env = { PATH: '/usr/bin:/bin' };
  return { sessionName, argv: ['/bin/cat'], env, workingDir: dir, nonce, leaseToken: '1' };
}

function pidOf(server: TmuxServer): number {
  expect(server.pid).toBeGreaterThan(1);
  return Number(server.pid);
}

/** Runs a command that ends our control client, and waits until the server has let go of it. */
async function loseConnection(command: string): Promise<void> {
  const client = createTmuxClient({ socketPath });
  await client.runScript(command);
  const isAlone = async () => (await client.runScript('list-clients')).lines.length === 0;
  await waitUntil(isAlone, { awaiting: 'the control client to be gone', deadlineMs: 10_000 });
}

async function untilEnded(pid: number): Promise<void> {
  await waitUntil(() => ['Z', undefined].includes(readProcessStatus(pid)?.state), {
    awaiting: 'the process to end',
    deadlineMs: 10_000,
  });
}

describe('openTmuxServer', () => {
  it('starts one server for several that ask at once', async () => {
    const servers = await Promise.all([open(), open(), open()]);
    expect(new Set(servers.map(({ pid }) => pid)).size).toBe(1);
  });

  it('starts a new server right after the old one was told to end', async () => {
    for (let round = 0; round < 3; round += 1) await (await open()).killServer();
    expect((await open()).pid).toBeGreaterThan(1);
  });

  it('leaves server and panes running when it is disposed of', async () => {
    const first = await open();
    await first.openPane(request('kept'));
    await first[Symbol.asyncDispose]();
    expect(await (await open()).findPane({ nonce: 'kept' })).toMatchObject({ state: 'present' });
  });

  it('starts a server that no signal to our process group reaches', async () => {
    const server = await open();
    const fields = (await readFile(`/proc/${server.pid}/stat`, 'utf8')).split(') ')[1]?.split(' ');
    // Session and group are its own, and its parent is not us.
    expect(fields?.slice(2, 4)).toEqual([String(server.pid), String(server.pid)]);
    expect(fields?.[1]).not.toBe(String(process.pid));
  });

  it('refuses a tmux that is too old or missing with a typed error', async () => {
    const old = join(dir, 'old-tmux');
    await writeFile(old, '#!/bin/sh\n[ "$1" = -V ] && echo tmux 3.1c\n');
    await chmod(old, 0o755);
    await expect(open(old)).rejects.toMatchObject({ code: 'too_old' });
    await expect(open('/nonexistent/tmux')).rejects.toMatchObject({ code: 'missing' });
  });

  it('refuses a socket path that tmux would not take', async () => {
    await expect(openTmuxServer({ socketPath: `/tmp/${'x'.repeat(100)}` })).rejects.toThrow(
      TypeError,
    );
  });
});

describe('findTmuxServer', () => {
  it('connects to a running server and starts none', async () => {
    expect(await findTmuxServer({ socketPath })).toBeUndefined();
    expect(await findServerProcess(socketPath)).toEqual({ state: 'none' });
    const server = await open();
    await using found = await findTmuxServer({ socketPath });
    expect(found?.pid).toBe(server.pid);
  });

  it('throws for a server that does not answer', async () => {
    const server = await open();
    process.kill(pidOf(server), 'SIGSTOP');
    const silent = findTmuxServer({ socketPath }, { deadlineMs: 300 });
    await expect(silent).rejects.toMatchObject({ code: 'unresponsive', mayHaveRun: false });
    process.kill(pidOf(server), 'SIGCONT');
  });
});

describe('a tmux server that goes wrong', () => {
  it('is gone once it was killed, and so are its panes', async () => {
    const server = await open();
    await server.openPane(request('lost'));
    process.kill(pidOf(server), 'SIGKILL');
    await untilEnded(pidOf(server));
    expect(await observeTmuxServer({ socketPath })).toBe('gone');
    expect(await server.findPane({ nonce: 'lost' })).toEqual({ state: 'absent' });
    expect(await server.listPanes()).toEqual([]);
    await expect(server.openPane(request('next'))).rejects.toMatchObject({ code: 'server_gone' });
  });

  it('is unknown while it is stopped', async () => {
    const server = await open();
    const { paneId } = await server.openPane(request('stopped'));
    process.kill(pidOf(server), 'SIGSTOP');
    const limits = { deadlineMs: 300 };
    expect(await observeTmuxServer({ socketPath }, limits)).toBe('unknown');
    expect(await server.findPane({ nonce: 'stopped' }, limits)).toMatchObject({ state: 'unknown' });
    // Once more, with a connection that must be made first.
    expect(await server.findPane({ nonce: 'stopped' }, limits)).toMatchObject({ state: 'unknown' });
    process.kill(pidOf(server), 'SIGCONT');
    expect(await server.findPane({ nonce: 'stopped' })).toMatchObject({ state: 'present' });
    expect((await server.capture(paneId)).trim()).toBe('');
  });

  it('types nothing given up on once a later command was answered', async () => {
    const server = await open();
    const { paneId } = await server.openPane(request('late'));
    process.kill(pidOf(server), 'SIGSTOP');
    const fence = { token: '1', deadlineMs: 300 };
    const givenUp = server.sendKey(paneId, 'C-j', fence);
    await expect(givenUp).rejects.toMatchObject({ code: 'unresponsive', mayHaveRun: true });
    process.kill(pidOf(server), 'SIGCONT');
    await server.capture(paneId);
    const client = createTmuxClient({ socketPath });
    const { lines } = await client.runScript('show-options -s');
    const [, writer] = /^@holdfast_revoked_([0-9a-f]+) /m.exec(lines.join('\n')) ?? [];
    const commands = `send-keys -t ${paneId} x`;
    const late = createFencedScript({ paneId, token: '1', writer: String(writer), commands });
    expect((await client.runScript(late)).lines).toEqual([`refused ${paneId} 0`]);
    expect(await server.sendKey(paneId, 'C-j', fence)).toBe('written');
  });

  it('B74: gets its socket back when a cleaner took it away', async () => {
    const server = await open();
    await server.openPane(request('cleaned'));
    await unlink(socketPath);
    expect(await observeTmuxServer({ socketPath })).toBe('running');
    await unlink(socketPath);
    const second = await open();
    expect(second.pid).toBe(server.pid);
    expect(await second.findPane({ nonce: 'cleaned' })).toMatchObject({ state: 'present' });
  });

  it('is found without its record too', async () => {
    const server = await open();
    await unlink(socketPath);
    await writeFile(`${socketPath}.server.json`, '{"pid":');
    expect(await observeTmuxServer({ socketPath })).toBe('running');
    expect(await findServerProcess(socketPath)).toMatchObject({ state: 'alive', pid: server.pid });
  });

  it('is not looked for in a process that has its old id', async () => {
    const server = await open();
    const record = JSON.parse(await readFile(`${socketPath}.server.json`, 'utf8'));
    process.kill(pidOf(server), 'SIGKILL');
    await untilEnded(pidOf(server));
    const other = { ...record, pid: process.pid };
    await writeFile(`${socketPath}.server.json`, JSON.stringify(other));
    expect(await observeTmuxServer({ socketPath })).toBe('gone');
  });

  it('is unknown where its record comes from another process id namespace', async () => {
    const server = await open();
    const record = JSON.parse(await readFile(`${socketPath}.server.json`, 'utf8'));
    process.kill(pidOf(server), 'SIGKILL');
    await untilEnded(pidOf(server));
    const other = { ...record, pid_namespace: 'pid:[1]' };
    await writeFile(`${socketPath}.server.json`, JSON.stringify(other));
    expect(await observeTmuxServer({ socketPath })).toBe('unknown');
  });

  it('is not confused with its successor, whose panes have the same ids', async () => {
    const server = await open();
    const { paneId } = await server.openPane(request('first'));
    process.kill(pidOf(server), 'SIGKILL');
    await untilEnded(pidOf(server));
    const successor = await open();
    expect((await successor.openPane(request('second'))).paneId).toBe(paneId);
    await expect(server.capture(paneId)).rejects.toMatchObject({ code: 'server_gone' });
    await expect(server.sendKey(paneId, 'Enter', { token: '1' })).rejects.toMatchObject({
      code: 'server_gone',
      mayHaveRun: false,
    });
  });

  it('B82: can be older than the tmux on the path: its own executable is used to talk to it', async () => {
    const server = await open();
    await server.openPane(request('old'));
    const stranger = join(dir, 'stranger');
    const complaint = 'protocol version mismatch (client 9, server 8)';
    await writeFile(stranger, `#!/bin/sh\necho '${complaint}' >&2\nexit 1\n`);
    await chmod(stranger, 0o755);
    const second = await open(stranger);
    expect(second.pid).toBe(server.pid);
    expect(await second.findPane({ nonce: 'old' })).toMatchObject({ state: 'present' });
  });
});

describe('a control connection that ends', () => {
  it('is made again without the caller noticing', async () => {
    const server = await open();
    const { paneId } = await server.openPane(request('again'));
    await loseConnection('detach-client -s =holdfast-keeper');
    expect(await server.findPane({ nonce: 'again' })).toMatchObject({ state: 'present' });
    expect(await server.sendKey(paneId, 'C-j', { token: '1' })).toBe('written');
  });

  it('is made again once for all who need it', async () => {
    const server = await open();
    await server.openPane(request('many'));
    const client = createTmuxClient({ socketPath });
    await loseConnection('detach-client -s =holdfast-keeper');
    await Promise.all(Array.from({ length: 5 }, () => server.listPanes()));
    expect((await client.runScript('list-clients')).lines).toHaveLength(1);
  });

  it('is made again when someone ended the keeper session', async () => {
    const server = await open();
    await server.openPane(request('kept'));
    const client = createTmuxClient({ socketPath });
    await loseConnection('kill-session -t =holdfast-keeper');
    // The connection may go on answering for a moment.
    const isBack = async () => {
      expect(await server.findPane({ nonce: 'kept' })).toMatchObject({ state: 'present' });
      return (await client.runScript('has-session -t =holdfast-keeper')).error === undefined;
    };
    await waitUntil(isBack, { awaiting: 'the keeper to be back', deadlineMs: 10_000 });
  });

  it('is attached before it is used, also where each new one finds the keeper session gone', async () => {
    const client = createTmuxClient({ socketPath });
    const server = await open();
    await server.openPane(request('kept'));
    for (let count = 0; count < 20; count += 1) {
      await loseConnection('kill-session -t =holdfast-keeper');
      expect(await server.listPanes()).toHaveLength(1);
      expect((await client.runScript('list-clients')).lines).toHaveLength(1);
    }
  });

  it('is not needed: single clients do the same where none can be had', async () => {
    const pathless = join(dir, 'no-control');
    await writeFile(
      pathless,
      '#!/bin/sh\nfor a; do [ "$a" = -C ] && exit 1; done\nexec tmux "$@"\n',
    );
    await chmod(pathless, 0o755);
    const server = await open(pathless);
    const text = 'single "client" $HOME #{pid} 漢\n'.repeat(2_000);
    const { paneId } = await server.openPane(request('single'));
    expect(await server.paste(paneId, 'hello\n', { token: '1' })).toBe('written');
    expect(await server.paste(paneId, text, { token: '2' })).toBe('fenced');
    await waitUntil(async () => (await server.capture(paneId)).includes('hello\nhello'), {
      awaiting: 'the echo of the paste',
      deadlineMs: 10_000,
    });
    expect(await server.findPane({ nonce: 'single' })).toMatchObject({ state: 'present', paneId });
    expect((await createTmuxClient({ socketPath }).runScript('list-buffers')).lines).toEqual([]);
  });
});

import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { checkConversation, type HandleJson } from '@holdfast/provider-core/certification';
import { execa } from 'execa';
import type { RealSubject } from '../harness/real-subject.js';
import { type CliInWay, createSubject, hello, type KnownCase, question } from './known-case.js';
import { tmuxSessionOf } from './session-process.js';

/** What else may stand in a pane, or around it. */
export const paneCases: readonly KnownCase[] = inPanes([
  {
    name: 'B22: a shell in the place of the agent is no agent, and gets no prompt',
    run: (cli) => putsShell(cli, respawn),
  },
  {
    name: 'B23: a pane of the same name without our mark is left alone',
    run: (cli) => putsShell(cli, recreate),
  },
  {
    name: 'B67, B68: a tiny client changes the size of no pane, and leaves none behind',
    run: attachesTinyClient,
  },
  {
    name: "B78: the settings that a person's tmux has are not ours",
    run: ignoresTmuxConf,
  },
  {
    name: 'B80: a service that runs inside tmux leaves that tmux alone',
    run: runsInsideTmux,
  },
]);

function inPanes(cases: readonly KnownCase[]): readonly KnownCase[] {
  return cases.map((one) => ({ ...one, ways: ['tmux'] }));
}

/** The message would make a file, were it typed into a shell. */
async function putsShell(
  cli: CliInWay,
  put: (subject: RealSubject, name: string) => Promise<string>,
): Promise<void> {
  await using subject = await createSubject(cli);
  const { handle } = await subject.start(hello);
  const shell = await put(subject, tmuxSessionOf(subject, handle));
  try {
    const message = 'touch typed-into-a-shell';
    const turn = await subject.continue(handle, message);
    await checkConversation(subject, turn.handle, [hello, message]);
    assert.equal(existsSync(join(subject.workingDir, 'typed-into-a-shell')), false);
  } finally {
    // Where it had our mark in its environment, it was ended as a leftover.
    await subject.tmux.run('kill-session', '-t', shell).catch(() => {});
  }
}

const idFormat = '#{session_id}';

async function respawn({ tmux }: RealSubject, name: string): Promise<string> {
  await tmux.run('respawn-pane', '-k', '-t', `=${name}:`, '/bin/sh');
  return tmux.run('display-message', '-p', '-t', `=${name}:`, idFormat);
}

async function recreate({ tmux, workingDir }: RealSubject, name: string): Promise<string> {
  await tmux.run('kill-session', '-t', `=${name}`);
  return tmux.run(
    ...['new-session', '-d', '-P', '-F', idFormat, '-s', name, '-c', workingDir, '/bin/sh'],
  );
}

async function attachesTinyClient(cli: CliInWay): Promise<void> {
  await using subject = await createSubject(cli);
  const first = await subject.start(hello);
  const size = await readSize(subject, first.handle);
  const client = attach(subject, tmuxSessionOf(subject, first.handle));
  try {
    await subject.waitUntil('the tiny client', async () => {
      // Said again: until it is attached, the client has no size that could be set.
      client.stdin?.write('refresh-client -C 2x1\n');
      const widths = await subject.tmux.run('list-clients', '-F', '#{client_width}');
      return widths.split('\n').includes('2');
    });
    const second = await subject.start('Remember the codeword magpie.');
    assert.equal(await readSize(subject, second.handle), size, 'of a pane made meanwhile');
    const turn = await subject.continue(first.handle, question);
    await checkConversation(subject, turn.handle, [hello, question]);
    assert.equal(await readSize(subject, turn.handle), size, 'of the pane it looks at');
  } finally {
    const gone = once(client, 'close');
    client.kill('SIGKILL');
    await gone;
  }
  const after = await subject.continue(first.handle, 'And now?');
  assert.equal(await readSize(subject, after.handle), size, 'once the client was killed');
}

function attach(subject: RealSubject, name: string): ChildProcess {
  const args = ['-S', subject.tmux.socket, '-N', '-C', 'attach-session', '-t', `=${name}`];
  const env = { PATH: process.env['PATH'] ?? '', LANG: 'C.UTF-8' };
  return spawn('tmux', args, { env, stdio: ['pipe', 'ignore', 'ignore'] });
}

function readSize(subject: RealSubject, handle: HandleJson): Promise<string> {
  const pane = `=${tmuxSessionOf(subject, handle)}:`;
  return subject.tmux.run('display-message', '-p', '-t', pane, '#{pane_width}x#{pane_height}');
}

async function ignoresTmuxConf(cli: CliInWay): Promise<void> {
  await using subject = await createSubject(cli);
  const canary = join(subject.place.root, 'tmux-conf-was-read');
  const settings = [
    `run-shell "touch ${canary}"`,
    'set -g base-index 7',
    'set -g detach-on-destroy off',
    'set -g destroy-unattached on',
    'set -g default-command "exec false"',
    `set-hook -g session-created 'kill-session'`,
  ];
  await writeFile(join(subject.place.home, '.tmux.conf'), `${settings.join('\n')}\n`);
  const { handle } = await subject.start(hello);
  await subject.lose(handle, 'tmux_server');
  const turn = await subject.continue(handle, question);
  await checkConversation(subject, turn.handle, [hello, question]);
  assert.equal(existsSync(canary), false, 'the settings were read');
}

async function runsInsideTmux(cli: CliInWay): Promise<void> {
  await using subject = await createSubject(cli);
  const socket = join(subject.place.root, 'outer.s');
  const outer = async (...args: readonly string[]) => {
    const env = { PATH: process.env['PATH'] ?? '', LANG: 'C.UTF-8', HOME: subject.place.home };
    const options = { env, extendEnv: false };
    return (await execa('tmux', ['-S', socket, '-f', '/dev/null', ...args], options)).stdout;
  };
  await outer('new-session', '-d', '-s', 'person', '/bin/cat');
  try {
    const look = () => outer('list-panes', '-a', '-F', '#{session_name} #{pane_id} #{pane_pid}');
    const before = await look();
    const env = {
      TMUX: `${socket},${await outer('display-message', '-p', '#{pid}')},0`,
      TMUX_PANE: '%0',
    };
    const { handle } = await subject.begin(undefined, hello, { env }).finished;
    await subject.lose(handle, 'tmux_server');
    const turn = await subject.begin(handle, question, { env }).finished;
    await checkConversation(subject, turn.handle, [hello, question]);
    await subject.close(turn.handle);
    assert.equal(await look(), before, 'the panes of the outer tmux');
  } finally {
    await outer('kill-server');
  }
}

import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  checkConversation,
  expectError,
  type HandleJson,
  withoutRequests,
} from '@holdfast/provider-core/certification';
import { execa } from 'execa';
import { findProcesses, killUntilGone } from '../harness/processes.js';
import type { RealSubject } from '../harness/real-subject.js';
import { type CliInWay, createSubject, hello, type KnownCase, question } from './known-case.js';
import { switchCli } from './switched-cli.js';

/** Several who want one session. */
export const ownerCases: readonly KnownCase[] = [
  {
    name: 'B102: a session that a person has open in another terminal is busy, and says by whom',
    providers: ['claude-code'],
    run: findsPerson,
  },
  {
    name: 'B105, B107: of several who bring back one dead session one does, by one process',
    run: racesForDeadSession,
  },
  {
    name: 'B107: whoever fails to bring a session back leaves it to the next',
    run: givesUpClaim,
  },
];

async function findsPerson(cli: CliInWay): Promise<void> {
  await using subject = await createSubject(cli);
  const { handle } = await subject.start(hello);
  await subject.close(handle);
  const id = subject.nativeSessionId(handle);
  await openAsPerson(subject, ['--resume', id], cli.binary);
  const findPersons = () =>
    findProcesses(({ command, environ }) => command.includes(id) && environ.includes('PERSON=1'));
  try {
    await subject.waitUntil("the person's CLI", async () => {
      const [person] = await findPersons();
      return person !== undefined && (await isRegistered(subject, person.pid));
    });
    const [person] = await findPersons();
    await withoutRequests(subject, () =>
      expectError(subject.continue(handle, question), 'session_busy', {
        owner: { kind: 'foreign', pid: person?.pid },
      }),
    );
    assert.equal((await findPersons()).length, 1, "the person's CLI is left alone");
  } finally {
    await killUntilGone(findPersons);
  }
  const turn = await subject.continue(handle, question);
  await checkConversation(subject, turn.handle, [hello, question]);
}

/** In a tmux of the person's own, with nothing of ours in its environment. */
async function openAsPerson(
  subject: RealSubject,
  args: readonly string[],
  binary: string,
): Promise<void> {
  const script = join(subject.place.root, 'person.sh');
  const { baseUrl } = subject.lifetime;
  await writeFile(script, `#!/bin/sh\nexec '${binary}' ${args.join(' ')}\n`, { mode: 0o755 });
  const env = {
    PATH: process.env['PATH'] ?? '',
    HOME: subject.place.home,
    LANG: 'C.UTF-8',
    TERM: 'xterm-256color',
    PERSON: '1',
    CLAUDE_CONFIG_DIR: subject.cliHome,
    ANTHROPIC_BASE_URL: baseUrl,
    ANTHROPIC_AUTH_TOKEN: 'loopback-key',
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    DISABLE_AUTOUPDATER: '1',
  };
  const socket = join(subject.place.root, 'person.s');
  const where = ['-c', subject.workingDir, '-x', '120', '-y', '40'];
  await execa('tmux', ['-S', socket, '-f', '/dev/null', 'new-session', '-d', ...where, script], {
    env,
    extendEnv: false,
  });
}

async function isRegistered(subject: RealSubject, pid: number): Promise<boolean> {
  const path = join(subject.cliHome, 'sessions', `${pid}.json`);
  return (await readFile(path, 'utf8').catch(() => '')).includes('sessionId');
}

async function racesForDeadSession(cli: CliInWay): Promise<void> {
  await using subject = await createSubject(cli);
  const { launches } = await switchCli(subject, cli.binary);
  const { handle } = await subject.start(hello);
  await subject.lose(handle, 'all_processes');
  const before = (await launches()).filter(isSession).length;
  const racers = ['Red goes first.', 'Green goes first.', 'Blue goes first.'];
  const turns = await Promise.allSettled(racers.map((text) => subject.continue(handle, text)));
  const ran = racers.filter((_, index) => turns[index]?.status === 'fulfilled');
  assert.ok(ran.length > 0, 'nobody ran');
  for (const turn of turns) {
    if (turn.status === 'rejected') assert.equal(turn.reason.kind, 'session_busy', turn.reason);
  }
  assert.equal((await launches()).filter(isSession).length, before + 1, 'processes brought back');
  const recorded = await subject.recordedMessages(handle);
  assert.deepEqual([...recorded].sort(), [hello, ...ran].sort());
}

/** A launch that holds the session, not one that shows it. */
function isSession(launch: string): boolean {
  return !launch.includes('--remote');
}

async function givesUpClaim(cli: CliInWay): Promise<void> {
  await using subject = await createSubject(cli);
  const cliSwitch = await switchCli(subject, cli.binary, [
    'if [ "$1" != --version ]; then echo "Not today." >&2; exit 7; fi',
  ]);
  const { handle } = await subject.start(hello);
  await subject.lose(handle, 'all_processes');
  await cliSwitch.switchOn();
  const fails = (one: HandleJson) => expectError(subject.continue(one, question), 'cli_unusable');
  await fails(handle);
  await cliSwitch.switchOff();
  const turn = await subject.continue(handle, question);
  await checkConversation(subject, turn.handle, [hello, question]);
}

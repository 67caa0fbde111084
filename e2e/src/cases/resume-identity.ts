import assert from 'node:assert/strict';
import { appendFile, mkdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import {
  checkConversation,
  expectError,
  scripted,
  withoutRequests,
} from '@holdfast/provider-core/certification';
import { type CliInWay, createSubject, hello, type KnownCase, question } from './known-case.js';
import { switchCli } from './switched-cli.js';

/** Which native session a turn runs in, when something stands in the way of the right one. */
export const resumeIdentityCases: readonly KnownCase[] = [
  {
    name: 'B01: a resume that the CLI turns into a fork is a stale handle, and sends nothing',
    providers: ['claude-code'],
    run: (cli) =>
      resumesElsewhere(cli, ['case " $* " in *" --resume "*) set -- "$@" --fork-session;; esac']),
  },
  {
    name: 'B02: a resume whose id the CLI drops never becomes a fresh conversation',
    providers: ['claude-code'],
    run: (cli) => resumesElsewhere(cli, dropResume),
  },
  {
    name: 'B04: a start that died half-way is found again by its turn, in one session',
    run: startsAfterHalfDeadSpawn,
  },
  {
    name: 'B04: an id whose transcript holds no message yet is started, not refused for ever',
    providers: ['claude-code'],
    run: startsOverEmptyTranscript,
  },
  {
    name: 'B06, B07: a session stopped before its first message is none for another, and starts anew for its own',
    run: stopsBeforeFirstMessage,
  },
  {
    name: 'B08: the id of a session is kept before any output, and the turn goes on by it',
    run: losesFirstTurn,
  },
  {
    name: 'B11, B12: a session is resumed where it was born, wherever its agent went',
    run: followsNoFolder,
  },
  {
    name: 'B26: of two sessions in one folder the one that is asked for goes on',
    run: picksNoLatest,
  },
];

/** Takes `--resume` and the id behind it out of the arguments. */
const dropResume = [
  'left=$#',
  'while [ $left -gt 0 ]; do',
  '  word=$1; shift; left=$((left - 1))',
  '  if [ "$word" = --resume ]; then shift; left=$((left - 1)); else set -- "$@" "$word"; fi',
  'done',
];

async function resumesElsewhere(cli: CliInWay, lines: readonly string[]): Promise<void> {
  await using subject = await createSubject(cli);
  const cliSwitch = await switchCli(subject, cli.binary, lines);
  const { handle } = await subject.start(hello);
  await subject.lose(handle, 'all_processes');
  await cliSwitch.switchOn();
  await withoutRequests(subject, () =>
    expectError(subject.continue(handle, question), 'stale_handle', {
      changedField: 'native_session_id',
    }),
  );
  assert.deepEqual(await subject.nativeSessions(), [subject.nativeSessionId(handle)]);
  await cliSwitch.switchOff();
  // The process of the wrong session is gone with the error, the right one is on disk.
  const turn = await subject.continue(handle, question);
  await checkConversation(subject, turn.handle, [hello, question]);
}

async function startsAfterHalfDeadSpawn(cli: CliInWay): Promise<void> {
  await using subject = await createSubject(cli);
  const turnId = crypto.randomUUID();
  const half = subject.begin(undefined, hello, { turnId, dieAt: 'submitting' });
  const handle = await half.handle;
  await assert.rejects(half.finished);
  await subject.lose(handle, 'all_processes');
  const turn = await subject.start(hello, { turnId });
  assert.deepEqual(await subject.nativeSessions(), [subject.nativeSessionId(turn.handle)]);
  await checkConversation(subject, turn.handle, [hello]);
}

async function startsOverEmptyTranscript(cli: CliInWay): Promise<void> {
  await using subject = await createSubject(cli);
  const turnId = crypto.randomUUID();
  const half = subject.begin(undefined, hello, { turnId, dieAt: 'native_session_known' });
  await assert.rejects(half.finished);
  const id = await findStartedId(subject.place.stateDir, turnId);
  const folder = subject.workingDir.replaceAll(/[^A-Za-z0-9]/g, '-');
  const transcript = join(subject.cliHome, 'projects', folder, `${id}.jsonl`);
  await mkdir(dirname(transcript), { recursive: true });
  await appendFile(transcript, `{"type":"mode","mode":"normal","sessionId":"${id}"}\n`);
  const turn = await subject.start(hello, { turnId });
  await checkConversation(subject, turn.handle, [hello]);
  assert.equal(subject.modelRequests().length, 1, 'requests of the one message');
}

async function stopsBeforeFirstMessage(cli: CliInWay): Promise<void> {
  await using subject = await createSubject(cli);
  const turnId = crypto.randomUUID();
  const stopped = subject.begin(undefined, hello, { turnId, dieAt: 'opened' });
  const handle = await stopped.handle;
  await assert.rejects(stopped.finished);
  await subject.lose(handle, 'all_processes');
  await withoutRequests(subject, () =>
    expectError(subject.continue(handle, question), 'non_continuable', {
      missing: 'acknowledged_turn',
    }),
  );
  const turn = await subject.start(hello, { turnId });
  await checkConversation(subject, turn.handle, [hello]);
}

async function losesFirstTurn(cli: CliInWay): Promise<void> {
  await using subject = await createSubject(cli);
  const turnId = crypto.randomUUID();
  const cutOff = scripted('Think it over.', { hang: true, times: 1, text: 'thought over' });
  const running = subject.begin(undefined, cutOff, { turnId });
  await subject.waitUntil('the request', () => subject.modelRequests().length === 1);
  const handle = await running.handle;
  await running.kill();
  await running.finished.catch(() => {});
  await subject.lose(handle, 'all_processes');
  const turn = await subject.start(cutOff, { turnId, onInterrupted: 'resume' });
  assert.notEqual(turn.answer, '');
  assert.equal(subject.nativeSessionId(turn.handle), subject.nativeSessionId(handle));
  const recorded = await subject.recordedMessages(turn.handle);
  assert.equal(recorded.filter((text) => text === cutOff).length, 1, 'times the record holds it');
}

async function followsNoFolder(cli: CliInWay): Promise<void> {
  await using subject = await createSubject(cli);
  await mkdir(join(subject.workingDir, 'inside'));
  const walk = subject.shellCall('cd inside && pwd');
  const away = scripted(hello, { tools: [walk], after: [{ text: 'gone inside' }] });
  const { handle } = await subject.start(away, { config: subject.unattended });
  await subject.lose(handle, 'all_processes');
  const turn = await subject.continue(handle, question);
  await checkConversation(subject, turn.handle, [away, question]);
  assert.equal(subject.providerFields(turn.handle)['working_dir'], subject.workingDir);
  const inside = join(subject.workingDir, 'inside');
  await expectError(
    subject.continue(turn.handle, hello, { config: { workingDir: inside } }),
    'stale_handle',
    {
      changedField: 'working_dir',
    },
  );
}

async function picksNoLatest(cli: CliInWay): Promise<void> {
  await using subject = await createSubject(cli);
  const older = await subject.start(hello);
  const newer = await subject.start('Remember the codeword magpie.');
  for (const { handle } of [older, newer]) await subject.lose(handle, 'all_processes');
  const turn = await subject.continue(older.handle, question);
  await checkConversation(subject, turn.handle, [hello, question]);
  assert.equal(subject.nativeSessionId(turn.handle), subject.nativeSessionId(older.handle));
  assert.equal((await subject.recordedMessages(newer.handle)).length, 1, 'of the newer session');
}

async function findStartedId(stateDir: string, turnId: string): Promise<string> {
  const text = await readFile(join(stateDir, 'starts', `${turnId}.json`), 'utf8');
  return String(JSON.parse(text).native_session_id);
}

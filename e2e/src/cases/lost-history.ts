import assert from 'node:assert/strict';
import { appendFile, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  checkConversation,
  expectError,
  scripted,
  withoutRequests,
} from '@holdfast/provider-core/certification';
import { type CliInWay, createSubject, hello, type KnownCase, question } from './known-case.js';
import { switchCli } from './switched-cli.js';

/** Histories that are gone or damaged, and starts that fail. */
export const lostHistoryCases: readonly KnownCase[] = [
  {
    name: 'B14, B34: a session whose record is gone says so each time, and none is made in its place',
    run: losesRecord,
  },
  {
    name: 'B14, B20: a resume that fails in words nobody knows is tried once a call, and the id survives',
    run: failsToResume,
  },
  {
    name: 'B09: a session whose CLI lost its own index is found by its record, or said to be unusable',
    providers: ['codex-cli'],
    run: damagesIndex,
  },
  {
    name: 'B35: a record with NUL bytes and a torn line goes on, and keeps its bytes',
    run: damagesRecord,
  },
  {
    name: 'B39, B40: an answer with U+2028, U+2029 and characters cut between chunks comes back exact',
    run: answersInOddCharacters,
  },
];

async function losesRecord(cli: CliInWay): Promise<void> {
  await using subject = await createSubject(cli);
  const { launches } = await switchCli(subject, cli.binary);
  const { handle } = await subject.start(hello);
  await subject.lose(handle, 'all_processes');
  await subject.removeNativeHistory(handle);
  const before = (await launches()).length;
  await withoutRequests(subject, async () => {
    await expectError(subject.continue(handle, question), 'native_history_missing');
    await expectError(subject.continue(handle, question), 'native_history_missing');
  });
  assert.deepEqual(await subject.nativeSessions(), [], 'sessions made in place of the lost one');
  assert.ok((await launches()).length <= before + 2, 'launches of two calls');
}

async function failsToResume(cli: CliInWay): Promise<void> {
  await using subject = await createSubject(cli);
  const cliSwitch = await switchCli(subject, cli.binary, [
    'if [ "$1" != --version ]; then echo "The moon is in the wrong house." >&2; exit 7; fi',
  ]);
  const { handle } = await subject.start(hello);
  await subject.lose(handle, 'all_processes');
  await cliSwitch.switchOn();
  const before = (await cliSwitch.launches()).length;
  await withoutRequests(subject, () =>
    expectError(subject.continue(handle, question), 'cli_unusable', { reason: 'exited' }),
  );
  assert.equal((await cliSwitch.launches()).length, before + 1, 'launches of one call');
  await cliSwitch.switchOff();
  const turn = await subject.continue(handle, question);
  assert.equal(subject.nativeSessionId(turn.handle), subject.nativeSessionId(handle));
  await checkConversation(subject, turn.handle, [hello, question]);
}

async function damagesIndex(cli: CliInWay): Promise<void> {
  await using subject = await createSubject(cli);
  const { handle } = await subject.start(hello);
  await subject.lose(handle, 'all_processes');
  const names = await readdir(subject.cliHome);
  const indexes = names.filter((name) => /\.sqlite(-wal|-shm)?$/.test(name));
  assert.ok(indexes.length > 0, `the CLI's own index is among ${names.join(', ')}`);
  for (const name of indexes) await writeFile(join(subject.cliHome, name), 'no database');
  const before = await subject.recordedMessages(handle);
  const turn = await subject.continue(handle, question).catch((error: unknown) => error);
  if (turn instanceof Error) {
    assert.ok('kind' in turn && turn.kind !== 'native_history_missing', String(turn));
    assert.deepEqual(await subject.recordedMessages(handle), before, 'the record');
    return;
  }
  assert.deepEqual(await subject.recordedMessages(handle), [hello, question]);
}

async function damagesRecord(cli: CliInWay): Promise<void> {
  await using subject = await createSubject(cli);
  const { handle } = await subject.start(hello);
  await subject.lose(handle, 'all_processes');
  const records = await subject.fixture.findRecords(subject.cliHome);
  const path = records.get(subject.nativeSessionId(handle)) ?? '';
  await appendFile(path, Buffer.concat([Buffer.alloc(512), Buffer.from('\n{"type":"us')]));
  const damaged = await readFile(path);
  const turn = await subject.continue(handle, question);
  assert.match(turn.answer, /heron/);
  const after = await readFile(path);
  assert.deepEqual(after.subarray(0, damaged.length), damaged, 'the bytes that stood there');
  const again = await subject.continue(turn.handle, question);
  assert.match(again.answer, /heron/);
}

async function answersInOddCharacters(cli: CliInWay): Promise<void> {
  await using subject = await createSubject(cli);
  const text = 'one\u2028two\u2029three\u0085four 漢字 🦔 é '.repeat(8).trim();
  // A message may be typed: what it asks for is spelled in ASCII.
  const step = scripted('', { text, chunks: 200 }).replaceAll(/[^\x20-\x7e]/g, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
  const { answer, handle } = await subject.start(`Say it. ${step}`);
  assert.equal(answer, text);
  await subject.lose(handle, 'all_processes');
  const next = await subject.continue(handle, `And again. ${step}`);
  assert.equal(next.answer, text);
}

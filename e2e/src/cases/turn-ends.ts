import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { readdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  checkConversation,
  expectError,
  type HandleJson,
  type RunningTurn,
  scripted,
} from '@holdfast/provider-core/certification';
import { findProcess } from '../harness/processes.js';
import type { RealSubject } from '../harness/real-subject.js';
import { type CliInWay, createSubject, hello, type KnownCase, question } from './known-case.js';
import { findWorkingProcess, freeze, killWorkingProcess } from './session-process.js';

/** How turns end that do not end by themselves, and what is no end. */
export const turnEndCases: readonly KnownCase[] = [
  {
    name: 'B86: a version of tomorrow is read by its record, whatever it shows',
    // The server of the other says its version itself.
    providers: ['claude-code'],
    run: runsTomorrowsVersion,
  },
  {
    name: 'B88: a turn ends with its answer while its background work goes on, and the next is its own',
    providers: ['claude-code'],
    run: leavesBackgroundWork,
  },
  {
    name: 'B89: a turn ends without the hook that tells its end',
    providers: ['claude-code'],
    ways: ['tmux'],
    run: hearsNoStop,
  },
  {
    name: 'B90: the death of the process in mid-turn settles the turn, and its id finishes it',
    run: diesInTurn,
  },
  {
    name: 'B91: a service that goes away during a long command finds the turn again, and its answer',
    run: leavesLongCommand,
  },
  {
    name: 'B92: an interrupt that a frozen process never answers settles at its deadline',
    run: interruptsFrozen,
  },
  {
    name: 'B99: a message that starts no turn in time is a failure, and is delivered once when tried again',
    // Elsewhere the process is started by the very call.
    ways: ['tmux'],
    run: (cli) =>
      cli.provider === 'claude-code' ? startsNoTurnInPane(cli) : startsNoTurnInServer(cli),
  },
  {
    name: 'B106: a turn begun in the moment of an interrupt runs in the same session',
    run: beginsAtInterrupt,
  },
];

const hanging = scripted('Take your time.', { hang: true, times: 1, text: 'time taken' });

async function beginHanging(
  subject: RealSubject,
  handle: HandleJson,
  options: Parameters<RealSubject['begin']>[2] = {},
): Promise<RunningTurn> {
  const before = subject.modelRequests().length;
  const running = subject.begin(handle, hanging, options);
  running.finished.catch(() => {});
  await subject.waitUntil('the request', () => subject.modelRequests().length > before);
  // A CLI asks its model first and writes after that: what is killed in between is lost, and rightly delivered again.
  await subject.waitUntil('the message in the record', async () =>
    (await subject.recordedMessages(handle)).includes(hanging),
  );
  return running;
}

async function runsTomorrowsVersion(cli: CliInWay): Promise<void> {
  await using subject = await createSubject(cli);
  const path = join(subject.place.root, 'cli-of-tomorrow');
  const told = '[ "$1" = --version ] && exec echo \'99.0.0 (Claude Code)\'';
  const script = `#!/bin/sh\n${told}\nexec '${cli.binary}' "$@"\n`;
  await writeFile(path, script, { mode: 0o755 });
  subject.useBinary(path);
  const { handle } = await subject.start(hello);
  await subject.lose(handle, 'all_processes');
  const turn = await subject.continue(handle, question);
  await checkConversation(subject, turn.handle, [hello, question]);
}

async function leavesBackgroundWork(cli: CliInWay): Promise<void> {
  await using subject = await createSubject(cli);
  const sign = join(subject.place.root, 'background-may-end');
  const call = {
    name: 'Bash',
    input: {
      command: `tail -f /dev/null --pid=$$ & while [ ! -e ${sign} ]; do read -t 1 x < <(:) || true; done`,
      run_in_background: true,
      description: 'Waits',
    },
  };
  const message = scripted(hello, { tools: [call], after: [{ text: 'begun' }] });
  const first = await subject.start(message, { config: subject.unattended });
  assert.equal(first.answer, 'begun');
  const asked = subject.modelRequests().length;
  await writeFile(sign, '');
  await subject.waitUntil(
    'the turn that nobody asked for',
    () => subject.modelRequests().length > asked,
  );
  const turn = await subject.continue(first.handle, question, { whenBusy: 'wait' });
  assert.match(turn.answer, /heron/);
  const recorded = await subject.recordedMessages(turn.handle);
  assert.equal(recorded.filter((text) => text === question).length, 1);
}

/** The workers of this harness have the hook switched off. */
async function hearsNoStop(cli: CliInWay): Promise<void> {
  await using subject = await createSubject(cli);
  const env = { HOLDFAST_HTTP_SIGNALS: 'off' };
  const { handle } = await subject.begin(undefined, hello, { env }).finished;
  const running = subject.begin(handle, question, { env });
  const turn = await running.finished;
  await checkConversation(subject, turn.handle, [hello, question]);
  assert.equal(running.events().filter(({ type }) => type === 'completed').length, 1);
}

async function diesInTurn(cli: CliInWay): Promise<void> {
  await using subject = await createSubject(cli);
  const { handle } = await subject.start(hello);
  const turnId = crypto.randomUUID();
  const running = await beginHanging(subject, handle, { turnId });
  await killWorkingProcess(subject, cli);
  await expectError(running.finished, 'turn_interrupted', { accepted: true });
  const again = await subject.continue(handle, hanging, { turnId, onInterrupted: 'resume' });
  assert.notEqual(again.answer, '');
  const recorded = await subject.recordedMessages(again.handle);
  assert.equal(recorded.filter((text) => text === hanging).length, 1, 'times it stands there');
}

async function leavesLongCommand(cli: CliInWay): Promise<void> {
  await using subject = await createSubject(cli);
  const { handle } = await subject.start(hello, { config: subject.unattended });
  const turnId = crypto.randomUUID();
  const sign = join(subject.place.root, 'command-may-end');
  const began = join(subject.place.root, 'command-began');
  const call = subject.shellCall(`touch ${began}; until [ -e ${sign} ]; do sleep 0.1; done`);
  const message = scripted('Wait for it.', { tools: [call], after: [{ text: 'waited' }] });
  const running = subject.begin(handle, message, { turnId });
  running.finished.catch(() => {});
  await subject.waitUntil('the command', () => existsSync(began));
  await running.kill();
  await writeFile(sign, '');
  const turn = await subject.continue(handle, message, { turnId, onInterrupted: 'resume' });
  assert.notEqual(turn.answer, '');
  const recorded = await subject.recordedMessages(turn.handle);
  assert.equal(recorded.filter((text) => text === message).length, 1, 'times it stands there');
  const next = await subject.continue(turn.handle, question);
  assert.match(next.answer, /heron/);
}

async function interruptsFrozen(cli: CliInWay): Promise<void> {
  await using subject = await createSubject(cli);
  const { handle } = await subject.start(hello);
  const running = await beginHanging(subject, handle, { limits: { interruptMs: 2_000 } });
  const working = await findWorkingProcess(subject, cli);
  const frozen = await freeze(subject, cli);
  try {
    running.interrupt();
    await expectError(running.finished, 'turn_interrupted', { accepted: true });
    const living = await findProcess(working.pid);
    assert.notEqual(living?.startTime, working.startTime, 'the process that did not answer');
  } finally {
    await frozen.thaw();
  }
  const next = await subject.continue(handle, question);
  assert.match(next.answer, /heron/);
}

const limits = { openMs: 3_000, acceptMs: 3_000, inactivityMs: 3_000, busyMs: 3_000 };

/** The server that should take the message in stands still. */
async function startsNoTurnInServer(cli: CliInWay): Promise<void> {
  await using subject = await createSubject(cli);
  const { handle } = await subject.start(hello);
  const turnId = crypto.randomUUID();
  const frozen = await freeze(subject, cli);
  const failed = subject.continue(handle, question, { turnId, limits });
  await expectNoTurn(failed).finally(frozen.thaw);
  const turn = await subject.continue(handle, question, { turnId, onInterrupted: 'resume' });
  await checkConversation(subject, turn.handle, [hello, question]);
}

/** The CLI has the message and hangs in a hook before its turn. */
async function startsNoTurnInPane(cli: CliInWay): Promise<void> {
  await using subject = await createSubject(cli);
  const { handle } = await subject.start(hello);
  const turnId = crypto.randomUUID();
  const sign = join(subject.place.root, 'hook-may-go-on');
  const entries = await readdir(subject.place.stateDir, { recursive: true });
  const gate = join(
    subject.place.stateDir,
    entries.find((entry) => entry.endsWith('gate.sh')) ?? '',
  );
  await rename(gate, `${gate}.own`);
  await writeFile(
    gate,
    `while [ ! -e '${sign}' ]; do sleep 0.05; done\nexec /bin/sh '${gate}.own'\n`,
  );
  await expectNoTurn(subject.continue(handle, question, { turnId, limits }));
  await writeFile(sign, '');
  const turn = await subject.continue(handle, question, { turnId, onInterrupted: 'resume' });
  await checkConversation(subject, turn.handle, [hello, question]);
}

/** Never success: the error says what is known of the message. */
async function expectNoTurn(turn: Promise<unknown>): Promise<void> {
  const failed = await turn.catch((error: unknown) => error);
  assert.ok(failed instanceof Error && 'kind' in failed, `it ended as ${JSON.stringify(failed)}`);
  const kinds = /^(timed_out|uncertain_delivery|session_busy|cli_unusable)$/;
  assert.match(String(failed.kind), kinds, String(failed));
}

async function beginsAtInterrupt(cli: CliInWay): Promise<void> {
  await using subject = await createSubject(cli);
  const { handle } = await subject.start(hello);
  const running = await beginHanging(subject, handle);
  running.interrupt();
  const next = await subject.continue(handle, question, { whenBusy: 'wait' });
  await expectError(running.finished, 'turn_interrupted');
  assert.equal(subject.nativeSessionId(next.handle), subject.nativeSessionId(handle));
  assert.match(next.answer, /heron/);
  const recorded = await subject.recordedMessages(next.handle);
  assert.equal(recorded.filter((text) => text === question).length, 1);
}

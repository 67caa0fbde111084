import assert from 'node:assert/strict';
import { expectError } from '../conversation.js';
import { scripted } from '../scripted-model/scripted-step.js';
import type { CertificationSubject, HandleJson } from '../subject.js';

/** CertInterrupt: an interrupt settles the turn for good, also when the CLI no longer listens; the session goes on. */
export async function interruptTurn(subject: CertificationSubject): Promise<void> {
  const { handle } = await subject.start('Remember the codeword heron.');
  const next = await interruptOne(subject, handle, 'Think about it.', false);
  const last = await interruptOne(subject, next, 'Think about it again.', true);
  const turn = await subject.continue(last, 'What is the codeword?');
  assert.match(turn.answer, /heron/);
}

async function interruptOne(
  subject: CertificationSubject,
  handle: HandleJson,
  text: string,
  isStopped: boolean,
): Promise<HandleJson> {
  const turnId = crypto.randomUUID();
  const before = subject.modelRequests().length;
  const message = scripted(text, { hang: true });
  const running = subject.begin(handle, message, { turnId, limits: { interruptMs: 3_000 } });
  let outcome: string | undefined;
  running.finished.then(
    () => {
      outcome = 'completed';
    },
    (error: { readonly kind?: string }) => {
      outcome = error.kind ?? String(error);
    },
  );
  await subject.waitUntil('the turn at the model', () => subject.modelRequests().length > before);
  if (isStopped) await stopCli(subject, running.pid);
  running.interrupt();
  await subject.waitUntil('the end of the interrupted turn', () => outcome !== undefined);
  assert.equal(outcome, 'turn_interrupted');

  await expectError(subject.continue(handle, message, { turnId }), 'turn_interrupted', {
    isFinal: true,
  });
  return handle;
}

/** Freezes every process of the CLI, so that nobody answers an interrupt. */
async function stopCli(subject: CertificationSubject, servicePid: number): Promise<void> {
  for (const { pid, command } of await subject.livingProcesses()) {
    if (pid === servicePid || command.startsWith('tmux')) continue;
    stopIfAlive(pid);
  }
}

/** What a CLI starts for a moment may be gone by now; it needs no stopping then. */
function stopIfAlive(pid: number): void {
  try {
    process.kill(pid, 'SIGSTOP');
  } catch (error) {
    const isGone = error instanceof Error && 'code' in error && error.code === 'ESRCH';
    if (!isGone) throw error;
  }
}

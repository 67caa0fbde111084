import assert from 'node:assert/strict';
import { scripted } from '../scripted-model/scripted-step.js';
import type { CertificationSubject } from '../subject.js';

/** CertNoChildSurvives: what a tool left running dies with an interrupt's recovery and with close, and so does the CLI. */
export async function noChildSurvives(subject: CertificationSubject): Promise<void> {
  const config = subject.unattended;
  const { handle } = await subject.start('Remember the codeword heron.', { config });
  const file = `${await subject.createFolder()}/followed`;
  const follow = `touch ${file}; tail -f ${file}`;
  const sleeper = subject.shellCall(follow);
  const running = subject.begin(handle, scripted('Wait for it.', { tools: [sleeper] }), {});
  const outcome = running.finished.catch((error: unknown) => error);
  await subject.waitUntil('the tool', async () => (await findSleepers(subject, file)).length > 0);

  running.interrupt();
  const error = await outcome;
  assert.ok(error instanceof Error && 'kind' in error, String(error));
  assert.equal(error.kind, 'turn_interrupted');
  await subject.waitUntil(
    'the end of the tool after an interrupt',
    async () => (await findSleepers(subject, file)).length === 0,
  );

  const background = subject.shellCall(`nohup tail -f ${file} >/dev/null 2>&1 &`);
  const left = await subject.continue(
    handle,
    scripted('Leave something behind.', { tools: [background], after: [{ text: 'left' }] }),
  );
  await subject.close(left.handle);
  await subject.waitUntil(
    'the end of every process of the session',
    async () => (await findSleepers(subject, file)).length === 0,
  );
}

/** What a tool runs until it is ended; a plain sleep would not do, since a CLI may refuse to wait that way. */
async function findSleepers(subject: CertificationSubject, file: string) {
  return (await subject.livingProcesses()).filter(({ command }) =>
    command.startsWith(`tail -f ${file}`),
  );
}

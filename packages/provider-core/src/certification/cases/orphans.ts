import assert from 'node:assert/strict';
import { scripted } from '../scripted-model/scripted-step.js';
import type { CertificationSubject, ProcessSight } from '../subject.js';

/** CertOrphans: what an earlier run left is found and ended; a process that is not ours is never touched. */
export async function orphansAreReaped(subject: CertificationSubject): Promise<void> {
  const { handle } = await subject.start('Remember the codeword heron.', {
    config: subject.unattended,
  });
  const stranger = await subject.startStranger();
  const file = `${await subject.createFolder()}/followed`;
  const message = scripted('Wait for it.', {
    tools: [subject.shellCall(`touch ${file}; tail -f ${file}`)],
  });
  const running = subject.begin(handle, message);
  const died = running.finished.catch((error: unknown) => error);
  await subject.waitUntil('the tool', async () => (await findTool(subject, file)).length > 0);

  // The service dies, then the CLI and all that tmux runs beside it, and the tool that it started stays behind.
  await running.kill();
  await died;
  for (const { pid } of await findOthers(subject, stranger, file)) process.kill(pid, 'SIGKILL');

  const turn = await subject.continue(handle, 'What is the codeword?');
  assert.match(turn.answer, /heron/);
  await subject.waitUntil(
    'the end of the orphaned tool',
    async () => (await findTool(subject, file)).length === 0,
  );
  await subject.close(turn.handle);
  const left = (await subject.livingProcesses()).map(({ pid }) => pid);
  assert.ok(left.includes(stranger.pid), 'a process that is not ours was ended');
  process.kill(stranger.pid, 'SIGKILL');
}

async function findTool(subject: CertificationSubject, file: string) {
  return (await subject.livingProcesses()).filter(({ command }) => command.includes(file));
}

async function findOthers(subject: CertificationSubject, stranger: ProcessSight, file: string) {
  return (await subject.livingProcesses()).filter(
    ({ pid, command }) =>
      pid !== stranger.pid && !command.startsWith('tmux') && !command.includes(file),
  );
}

import assert from 'node:assert/strict';
import { scripted } from '../scripted-model/scripted-step.js';
import type { CertificationSubject } from '../subject.js';

/** CertDurableBeforeTools: when a tool runs, its user message is in the record, though all dies that instant. */
export async function durableBeforeTools(subject: CertificationSubject): Promise<void> {
  const first = 'Remember the codeword heron.';
  const turnId = crypto.randomUUID();
  const { handle } = await subject.start(first, { config: subject.unattended });
  const folder = await subject.createFolder();
  // The tool kills its own CLI at once, before anything that is buffered can reach the disk.
  const command = `touch ${folder}/ran-$$; kill -9 $PPID; sleep 1`;
  const deadly = scripted('Run the tool.', { tools: [subject.shellCall(command)] });

  const running = subject.begin(handle, deadly, { turnId });
  const died = running.finished.catch((error: unknown) => error);
  await subject.waitUntil('the tool', () => subject.hasFiles(folder));
  await running.kill();
  await died;
  await subject.lose(handle, 'all_processes');

  const recorded = await subject.recordedMessages(handle);
  assert.deepEqual(recorded, [first, deadly], 'the record at the death of the CLI');
  const turn = await subject.continue(handle, 'What is the codeword?');
  assert.match(turn.answer, /heron/);
}

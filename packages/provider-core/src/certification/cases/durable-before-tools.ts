import assert from 'node:assert/strict';
import { scripted } from '../scripted-model/scripted-step.js';
import type { CertificationSubject } from '../subject.js';

/** CertDurableBeforeTools: when a tool runs, its user message is in the record, though all dies that instant. */
export async function durableBeforeTools(subject: CertificationSubject): Promise<void> {
  const first = 'Remember the codeword heron.';
  const { handle } = await subject.start(first, { config: subject.unattended });
  const path = `${subject.workingDir}/written-by-the-tool`;
  const deadly = scripted('Run the tool.', { tools: [subject.writeCall(path)] });

  // Killed by the first sign of the tool, before anything that is buffered can reach the disk.
  const killed = await subject.killAllWhenWritten(handle, path);
  const running = subject.begin(handle, deadly, { turnId: crypto.randomUUID() });
  const died = running.finished.catch((error: unknown) => error);
  await killed.done;
  await running.kill();
  await died;
  await subject.lose(handle, 'all_processes');

  const recorded = await subject.recordedMessages(handle);
  assert.deepEqual(recorded, [first, deadly], 'the record at the death of the CLI');
  const turn = await subject.continue(handle, 'What is the codeword?');
  assert.match(turn.answer, /heron/);
}

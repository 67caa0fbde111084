import assert from 'node:assert/strict';
import { scripted } from '../scripted-model/scripted-step.js';
import type { CertificationSubject } from '../subject.js';

const WINDOW = 100_000;

/** CertCompaction: a compaction is a phase of its turn, in both its ends, and a turn without an answer after it fails. */
export async function compactionPhase(subject: CertificationSubject): Promise<void> {
  const config = await subject.compactingAt(WINDOW);
  const first = await subject.start('Remember the codeword heron.', { config });
  const long = scripted('Go on.', { text: 'Noted.', usage: { input: WINDOW + 20_000 } });
  const second = await subject.continue(first.handle, long);
  assert.deepEqual(phases(first.events), []);

  const turn = await subject.continue(second.handle, 'What is the codeword?');
  assert.match(turn.answer, /heron/);
  assert.deepEqual(phases(turn.events), ['compaction_started', 'compaction_finished']);

  const again = await subject.continue(turn.handle, long);
  const silent = subject.begin(again.handle, scripted('Say nothing.', { text: '' }));
  await assert.rejects(silent.finished, 'a turn without an answer after a compaction');
  assert.notEqual(silent.events().at(-1)?.type, 'completed');
}

function phases(events: readonly { readonly type: string }[]): readonly string[] {
  return events.map(({ type }) => type).filter((type) => type.startsWith('compaction_'));
}

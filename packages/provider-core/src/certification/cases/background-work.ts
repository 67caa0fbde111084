import assert from 'node:assert/strict';
import { existsSync, writeFileSync } from 'node:fs';
import { scripted } from '../scripted-model/scripted-step.js';
import type { CertificationSubject } from '../subject.js';

/** CertBackgroundWork: an answer and quiescence are two facts; the caller waits for the one it asks for. */
export async function backgroundWork(subject: CertificationSubject): Promise<void> {
  const { handle } = await subject.start('Remember the codeword heron.', {
    config: subject.unattended,
  });
  const folder = await subject.createFolder();
  const message = (name: string) =>
    scripted(`Leave ${name} running.`, {
      tools: [
        subject.backgroundCall(
          `touch ${folder}/${name}; until [ -e ${folder}/go ]; do sleep 0.1; done`,
        ),
      ],
      after: [{ text: `left ${name}` }],
    });

  const turn = await subject.continue(handle, message('one'), { waitFor: 'turn' });
  assert.equal(turn.answer, 'left one');
  assert.equal(existsSync(`${folder}/one`), true, 'the work began');
  assert.equal(hasEvent(turn.events, 'quiescent'), false, 'quiescent while work goes on');

  const waiting = subject.begin(turn.handle, message('two'), { waitFor: 'quiescence' });
  waiting.finished.catch(() => {});
  await subject.waitUntil('the answer', () => hasEvent(waiting.events(), 'answer'));
  assert.equal(hasEvent(waiting.events(), 'quiescent'), false, 'quiescent while work goes on');
  const before = subject.modelRequests().length;
  writeFileSync(`${folder}/go`, '');
  const ended = await waiting.finished;
  assert.equal(ended.answer, 'left two', 'the answer is that of the turn');
  assert.equal(hasEvent(ended.events, 'quiescent'), true, 'quiescent at last');
  if (subject.modelRequests().length > before) {
    assert.equal(hasEvent(ended.events, 'background_turn'), true, 'a turn nobody asked for');
  }
  const last = await subject.continue(ended.handle, 'What is the codeword?');
  assert.match(last.answer, /heron/);
}

function hasEvent(events: readonly { readonly type: string }[], type: string): boolean {
  return events.some((event) => event.type === type);
}

import assert from 'node:assert/strict';
import { existsSync, writeFileSync } from 'node:fs';
import { scripted } from '../scripted-model/scripted-step.js';
import type { CertificationSubject } from '../subject.js';

const steering = 'Mention the lantern as well.';

/** CertSteer: what is said of a text put into a running turn is what the model saw. */
export async function steerRunningTurn(subject: CertificationSubject): Promise<void> {
  const { handle } = await subject.start('Remember the codeword heron.', {
    config: subject.unattended,
  });
  const folder = await subject.createFolder();
  const wait = `touch ${folder}/begun; until [ -e ${folder}/go ]; do sleep 0.1; done`;
  const message = scripted('Work for a while.', {
    tools: [subject.shellCall(wait)],
    after: [{ text: 'worked' }],
  });
  const running = subject.begin(handle, message);
  // A turn that ends before its tool began says why; nobody waits for the tool then.
  await Promise.race([
    subject.waitUntil('the tool', () => existsSync(`${folder}/begun`)),
    running.finished.then(({ answer, events }) => {
      const told = JSON.stringify(events.slice(-8));
      assert.ok(existsSync(`${folder}/begun`), `the tool ran: "${answer}" after ${told}`);
    }),
  ]);
  const steered = running.steer(steering);
  // Some providers take a text in at once, others only after the tool.
  await Promise.race([steered, subject.waitUntil('the text to be on its way', () => true)]);
  writeFileSync(`${folder}/go`, '');
  const { outcome, detail } = await steered;
  const turn = await running.finished;

  assert.notEqual(outcome, 'unknown', detail);
  if (outcome === 'queued') {
    await subject.waitUntil('the queued text at the model', () => countSeen(subject) > 0);
  }
  assert.equal(countSeen(subject), outcome === 'refused' ? 0 : 1, `times it was seen (${outcome})`);
  const last = await subject.continue(turn.handle, 'What is the codeword?');
  assert.match(last.answer, /heron/);
}

/** Times that the newest request holds the text. */
function countSeen(subject: CertificationSubject): number {
  return (subject.modelRequests().at(-1)?.bodyText.split(steering).length ?? 1) - 1;
}

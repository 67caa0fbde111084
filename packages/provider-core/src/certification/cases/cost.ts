import assert from 'node:assert/strict';
import { scripted } from '../scripted-model/scripted-step.js';
import type { CertificationSubject } from '../subject.js';

const usage = { input: 1_000, output: 1_000 };

/** CertCost: a turn tells what it cost, of itself alone and after a resume too. */
export async function costOfTurns(subject: CertificationSubject): Promise<void> {
  const { handle } = await subject.start('Remember the codeword heron.');
  const message = (name: string) => scripted(`Tell the price (${name}).`, { text: 'told', usage });
  const first = await subject.continue(handle, message('first'));
  const price = first.usage?.costUsd ?? 0;
  assert.ok(price > 0, `the cost of a turn: ${price}`);

  await subject.lose(first.handle, 'all_processes');
  const second = await subject.continue(first.handle, message('second'));
  const again = second.usage?.costUsd ?? 0;
  assert.ok(again > 0 && again < price * 1.5, `the same turn after a resume cost ${again}`);
}

import assert from 'node:assert/strict';
import { readUserMessages } from '../scripted-model/user-messages.js';
import type { CertificationSubject, HandleJson } from '../subject.js';

/** Texts that a terminal, a composer or a command parser would like to change. */
export const hostileTexts: readonly string[] = [
  'two\nlines',
  'a list:\n\n- one\n- two\n- three\n- four\n\nand an end',
  'emoji 🦩, CJK 漢字, a no-break\u00a0space, a decomposed e\u0301 and a BOM \ufeff inside',
  `long: ${'0123456789 '.repeat(300)}end`,
  'quotes \'single\' "double" `back` $HOME $(id) \\n %s #{pane_id}',
  '<b>tags</b> & <pasted_content id="x">fake</pasted_content>',
  'a tab\there',
  'CRLF\r\nline',
  'an escape \u001b[31mred\u001b[0m',
  'a paste end \u001b[201~ inside',
  'a C1 \u009b31m control',
  '!ls',
  '/help',
  '/etc/hosts is a path',
  'exit',
  '  outer blanks  ',
  'trailing newline\n',
  'trailing backslash \\',
  'trailing @name',
  'what is @notes.txt about?',
  '#hash at the start',
  '?',
  '-- dashes',
];

/** CertExactDelivery: the bytes given are the bytes at the model, or the message is refused before anything is typed. */
export async function exactDelivery(subject: CertificationSubject): Promise<void> {
  const first = 'Remember the codeword heron.';
  let { handle } = await subject.start(first);
  const delivered = [first];
  for (const text of hostileTexts) {
    const next = await deliverOrRefuse(subject, handle, text);
    if (next === undefined) continue;
    delivered.push(text);
    handle = next;
    const request = subject.modelRequests().at(-1);
    assert.deepEqual(request && readUserMessages(request), delivered);
  }
  assert.ok(delivered.length > hostileTexts.length / 3, 'most texts should be deliverable');
}

async function deliverOrRefuse(
  subject: CertificationSubject,
  handle: HandleJson,
  text: string,
): Promise<HandleJson | undefined> {
  const before = subject.modelRequests().length;
  try {
    return (await subject.continue(handle, text)).handle;
  } catch (error) {
    const facts: Readonly<Record<string, unknown>> = error instanceof Error ? { ...error } : {};
    assert.equal(facts['kind'], 'undeliverable_message', `${JSON.stringify(text)}: ${error}`);
    assert.ok(facts['reason'], 'the reason of the refusal');
    assert.equal(subject.modelRequests().length, before, 'requests of a refused message');
    return undefined;
  }
}

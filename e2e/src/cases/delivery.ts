import assert from 'node:assert/strict';
import {
  checkConversation,
  type HandleJson,
  readUserMessages,
} from '@holdfast/provider-core/certification';
import type { RealSubject } from '../harness/real-subject.js';
import { type CliInWay, createSubject, hello, type KnownCase, question } from './known-case.js';

/** How a message gets in: exact and once, or refused before anything is typed. */
export const deliveryCases: readonly KnownCase[] = [
  {
    name: 'B50: Enter waits for a composer that works on the paste for seconds',
    providers: ['claude-code'],
    ways: ['tmux'],
    run: pastesMoreThanItTakes,
  },
  {
    name: 'B55: blanks and newlines at the ends arrive as they are, or the message is refused',
    run: (cli) => deliversTexts(cli, ['two lines\nand an end\n', '  outer blanks  ', '\n\nlate']),
  },
  {
    name: 'B57: a text that begins with dashes is no option to anybody',
    run: (cli) =>
      deliversTexts(cli, ['--help', '-p', '-- --resume', '--dangerously-skip-permissions now'], 4),
  },
  {
    name: 'B43, B59, B60, B61: a message of every awkward size arrives whole, and succeeds only then',
    run: (cli) => deliversTexts(cli, awkwardSizes.map(createText), 6),
  },
  {
    name: 'B64, B65: a slash at the start is text, or is refused with the reason',
    run: (cli) =>
      deliversTexts(cli, ['/etc/hosts is a path', '/tmp/compact', '/compact', '/help', '/'], 2),
  },
  {
    name: 'B87: an answer that looks like the footer of the CLI comes from its record',
    run: answersLikeFooter,
  },
];

const awkwardSizes = [1_023, 1_024, 4_095, 4_096, 16_384, 65_536, 1_000_000];

function createText(bytes: number): string {
  return `${bytes}: ${'0123456789 '.repeat(bytes / 10)}`.slice(0, bytes - 1).concat('.');
}

/** Each is at the model byte for byte, or was refused with a reason and no request; `least` of them must arrive. */
async function deliversTexts(cli: CliInWay, texts: readonly string[], least = 0): Promise<void> {
  await using subject = await createSubject(cli);
  let { handle } = await subject.start(hello);
  const delivered = [hello];
  for (const text of texts) {
    const next = await deliverOrRefuse(subject, handle, text);
    if (!next) continue;
    handle = next;
    delivered.push(text);
    const request = subject.modelRequests().at(-1);
    assert.deepEqual(request && readUserMessages(request), delivered);
  }
  assert.ok(delivered.length > least, `${delivered.length - 1} of ${texts.length} arrived`);
  assert.deepEqual(await subject.recordedMessages(handle), delivered);
}

async function deliverOrRefuse(
  subject: RealSubject,
  handle: HandleJson,
  text: string,
): Promise<HandleJson | undefined> {
  const before = subject.modelRequests().length;
  try {
    return (await subject.continue(handle, text)).handle;
  } catch (error) {
    const facts: Readonly<Record<string, unknown>> = error instanceof Error ? { ...error } : {};
    assert.equal(facts['kind'], 'undeliverable_message', `${text.slice(0, 60)}: ${error}`);
    assert.ok(facts['reason'], 'the reason of the refusal');
    assert.equal(subject.modelRequests().length, before, 'requests of a refused message');
    return undefined;
  }
}

/** So many pastes that the composer works on them for seconds. */
async function pastesMoreThanItTakes(cli: CliInWay): Promise<void> {
  await using subject = await createSubject(cli);
  const { handle } = await subject.start(hello);
  const message = `${'A line that is pasted with many others. '.repeat(2_200)}What is the codeword?`;
  const turn = await subject.continue(handle, message);
  await checkConversation(subject, turn.handle, [hello, message]);
  const next = await subject.continue(turn.handle, 'And once more?');
  await checkConversation(subject, next.handle, [hello, message, 'And once more?']);
}

async function answersLikeFooter(cli: CliInWay): Promise<void> {
  await using subject = await createSubject(cli);
  const text = [
    '? for shortcuts',
    '❯ ',
    '⏵⏵ accept edits on (shift+tab to cycle)',
    '› Ask Codex to do anything',
    '100% context left',
    '✻ Thinking… (esc to interrupt)',
  ].join('\n');
  const message = `Say it. [[${JSON.stringify({ text })}]]`;
  const { answer, handle } = await subject.start(message);
  assert.equal(answer, text);
  const turn = await subject.continue(handle, question);
  assert.doesNotMatch(turn.answer, /shortcuts|context left|esc to interrupt/);
}

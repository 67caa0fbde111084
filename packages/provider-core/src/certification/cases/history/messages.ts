import assert from 'node:assert/strict';
import { createHash, randomUUID } from 'node:crypto';
import type { ImagePart } from '../../../spec/turn.js';
import type { TurnEvent } from '../../../spec/turn-event.js';
import { expectError } from '../../conversation.js';
import type { HistorySubject } from '../../history-subject.js';
import { scripted } from '../../scripted-model/scripted-step.js';
import { readUserMessages } from '../../scripted-model/user-messages.js';
import { hostileTexts } from '../exact-delivery.js';
import { CODEWORD, QUESTION, sendsNothing } from './check-history.js';

/** CertApiExactDelivery: the bytes given are the bytes at the model, each text as a message of its own. */
export async function exactHistory(subject: HistorySubject): Promise<void> {
  const texts = [
    ...hostileTexts,
    '\ufeffa BOM first',
    'a line separator \u2028 inside',
    'NUL \0 too',
  ];
  const first = await subject.converse(undefined, texts.map(asUser));
  const request = subject.modelRequests().at(-1);
  assert.deepEqual(request && readUserMessages(request), texts);

  const { handle } = first;
  await sendsNothing(subject, async () => {
    const half = subject.continue(handle, 'half of an emoji \ud83d here');
    await expectError(half, 'undeliverable_message', { reason: 'ill_formed_text' });
    const empty = subject.continue(handle, '');
    await expectError(empty, 'undeliverable_message', { reason: 'empty_message' });
  });
  await subject.continue(handle, CODEWORD);
  const last = subject.modelRequests().at(-1);
  assert.deepEqual(last && readUserMessages(last), [...texts, CODEWORD], 'in another process');
}

function asUser(content: string) {
  return { role: 'user', content } as const;
}

/** One red pixel. */
const pixel: ImagePart = {
  type: 'image',
  mediaType: 'image/png',
  data: 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==',
};

/** CertApiImages: the bytes of an image are at the model, and again in every later request. */
export async function imagesInHistory(subject: HistorySubject): Promise<void> {
  const message = 'What colour has the pixel?';
  const { handle } = await subject.start(message, { images: [pixel] });
  checkImage(subject, 'in its turn');
  await subject.continue(handle, CODEWORD);
  checkImage(subject, 'in another process');
  const request = subject.modelRequests().at(-1);
  assert.deepEqual(request && readUserMessages(request), [message, CODEWORD]);
}

function checkImage(subject: HistorySubject, when: string): void {
  const items = subject.modelRequests().at(-1)?.messages ?? [];
  const seen = items.flatMap(({ images = [] }) => images.map(({ sha256 }) => sha256));
  const wanted = createHash('sha256').update(Buffer.from(pixel.data, 'base64')).digest('hex');
  assert.deepEqual(seen, [wanted], `the images at the model ${when}`);
}

/** CertApiStreaming: what the model says is told piece by piece, and the pieces are the answer. */
export async function streamedAnswer(subject: HistorySubject): Promise<void> {
  const said = 'one two three four';
  const { answer, events } = await subject.start(scripted('Count.', { text: said, chunks: 4 }));
  const pieces = textsOf(events);
  assert.ok(pieces.length > 1, `the answer came in ${pieces.length} piece(s)`);
  assert.deepEqual([pieces.join(''), answer], [said, said]);
}

/** CertApiInterrupt: an interrupt ends the request or the tool at once, settles the turn, and the session goes on. */
export async function interruptedHistory(subject: HistorySubject): Promise<void> {
  const tools = await subject.tools('stdio');
  const { handle } = await subject.start(CODEWORD, { config: tools.config });
  const turn = { turnId: randomUUID(), config: tools.config };
  const slow = scripted('Speak slowly.', { text: 'one two', chunks: 2, chunkDelayMs: 600_000 });
  const speaking = subject.begin(handle, slow, turn);
  await subject.waitUntil('the first words', () => textsOf(speaking.events()).length > 0);
  speaking.interrupt();
  await expectError(speaking.finished, 'turn_interrupted', { accepted: true });
  await sendsNothing(subject, () =>
    expectError(subject.continue(handle, slow, turn), 'turn_interrupted', { accepted: true }),
  );

  const hang = scripted('Wait.', { tools: [tools.append('waits', 'hang')] });
  const waiting = subject.begin(handle, hang, { config: tools.config });
  await subject.waitUntil('the tool to run', async () =>
    (await subject.ledger()).includes('waits'),
  );
  waiting.interrupt();
  await expectError(waiting.finished, 'turn_interrupted', { accepted: true });
  await subject.waitUntil('the tool to be told', async () =>
    (await subject.ledger()).includes('cancelled waits'),
  );
  const { answer } = await subject.continue(handle, QUESTION, { config: tools.config });
  assert.match(answer, /heron/);
  assert.equal((await subject.ledger()).filter((line) => line === 'waits').length, 1);
}

function textsOf(events: readonly TurnEvent[]): readonly string[] {
  return events.flatMap((event) => (event.type === 'text_delta' ? [event.text] : []));
}

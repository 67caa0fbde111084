import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import type { ImagePart } from '../../spec/turn.js';
import type { CertificationSubject } from '../subject.js';

/** One red pixel. */
const pixel: ImagePart = {
  type: 'image',
  mediaType: 'image/png',
  data: 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==',
};

/** CertImages: the bytes of an image are at the model, beside the exact text, and stay in the session. */
export async function imagesInMessages(subject: CertificationSubject): Promise<void> {
  const { handle } = await subject.start('Remember the codeword heron.');
  const message = 'What colour has the pixel?';
  const turn = await subject.continue(handle, message, { images: [pixel] });
  checkImage(subject, 'in its turn');
  const request = subject.modelRequests().at(-1);
  assert.ok(request?.bodyText.includes(message), 'the text beside the image');

  await subject.lose(turn.handle, 'all_processes');
  const last = await subject.continue(turn.handle, 'What is the codeword?');
  assert.match(last.answer, /heron/);
  checkImage(subject, 'after a resume');
}

function checkImage(subject: CertificationSubject, when: string): void {
  const items = subject.modelRequests().at(-1)?.messages ?? [];
  const seen = items.flatMap(({ images = [] }) => images.map(({ sha256 }) => sha256));
  const wanted = createHash('sha256').update(Buffer.from(pixel.data, 'base64')).digest('hex');
  assert.deepEqual(seen, [wanted], `the images at the model ${when}`);
}

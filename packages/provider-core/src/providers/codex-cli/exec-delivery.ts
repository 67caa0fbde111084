import type { DeliveryRefusal } from '../../spec/served-pane.js';
import type { ImagePart } from '../../spec/turn.js';
import { findRefusal } from './delivery.js';

/** Every text but a blank one goes in byte for byte; to `exec` a blank one is no prompt, with images too. */
export function findExecRefusal(
  text: string,
  images: readonly ImagePart[] = [],
): DeliveryRefusal | undefined {
  if (text === '') return { reason: 'empty', detail: 'it has no text.' };
  if (/^\p{White_Space}+$/u.test(text)) {
    return {
      reason: 'blank',
      detail: 'it holds nothing but blanks, which codex exec does not take.',
    };
  }
  return findRefusal(text, images);
}

const BYTE_ORDER_MARK = '\uFEFF';

/** `exec` takes one byte order mark off the front of its standard input. */
export function encodeMessage(text: string): string {
  return text.startsWith(BYTE_ORDER_MARK) ? `${BYTE_ORDER_MARK}${text}` : text;
}

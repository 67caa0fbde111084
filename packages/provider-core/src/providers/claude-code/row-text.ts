import type { TranscriptRow } from './record.wire.js';

/** The text of a row; absent when it holds none, as a row of tool results. */
export function readRowText({ message }: TranscriptRow): string | undefined {
  const content = message?.content;
  if (typeof content === 'string') return content;
  const texts = content?.flatMap((block) => (block.type === 'text' ? [block.text ?? ''] : []));
  return texts && texts.length > 0 ? texts.join('\n') : undefined;
}

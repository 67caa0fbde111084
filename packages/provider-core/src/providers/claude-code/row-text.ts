import type { RowContent, TranscriptRow } from './record.wire.js';

/** The text of a row; absent when it holds none, as a row of tool results. */
export function readRowText({ message }: TranscriptRow): string | undefined {
  return message?.content === undefined ? undefined : readContentText(message.content);
}

/** The text of a message's content; empty for images alone, absent for what no one wrote. */
export function readContentText(content: RowContent): string | undefined {
  if (typeof content === 'string') return content;
  const texts = content.flatMap((block) => (block.type === 'text' ? [block.text ?? ''] : []));
  if (texts.length > 0) return texts.join('\n');
  return content.some(({ type }) => type === 'image') ? '' : undefined;
}

/** Whether the CLI itself wrote the text, to tell the model of background work that ended. */
export function isTaskNotification(text: string): boolean {
  return text.startsWith('<task-notification>');
}

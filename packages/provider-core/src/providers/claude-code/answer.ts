import type { Usage } from '../../spec/turn.js';
import type { TranscriptRow } from './record.wire.js';

/** By it a turn with a schema gives its answer. The CLI tells of it as of a tool; it is none. */
export const STRUCTURED_ANSWER_TOOL = 'StructuredOutput';

/** What a turn came to. */
export interface Answer {
  readonly answer: string;
  readonly usage?: Usage | undefined;
  readonly stopReason?: string | undefined;
}

/** Reads the rows of a turn. Each block of an assistant message is a row of its own; they share the message's id. */
export function readAnswer(rows: readonly TranscriptRow[]): Answer {
  const spoken = rows.filter(
    ({ type, message }) => type === 'assistant' && message && message.model !== '<synthetic>',
  );
  const lastId = spoken.at(-1)?.message?.id;
  const last = spoken.filter(({ message }) => message?.id === lastId);
  const usage = sumUsage(spoken);
  return {
    answer: last.flatMap(readTexts).join('\n\n'),
    ...(usage ? { usage } : {}),
    stopReason: last.at(-1)?.message?.stop_reason ?? undefined,
  };
}

function readTexts({ message }: TranscriptRow): readonly string[] {
  const content = message?.content;
  if (content === undefined || typeof content === 'string') return content ? [content] : [];
  return content.flatMap((block) => (block.type === 'text' && block.text ? [block.text] : []));
}

/** Adds up the tokens of assistant rows. Every row of a message repeats the usage of the whole message. */
export function sumUsage(rows: readonly TranscriptRow[]): Usage | undefined {
  const byMessage = new Map(rows.map(({ message, uuid }) => [message?.id ?? uuid, message?.usage]));
  const usages = [...byMessage.values()].flatMap((usage) => (usage ? [readUsage(usage)] : []));
  return usages.length === 0 ? undefined : usages.reduce(addUsage);
}

function readUsage(usage: NonNullable<NonNullable<TranscriptRow['message']>['usage']>) {
  return {
    inputTokens: usage.input_tokens ?? 0,
    outputTokens: usage.output_tokens ?? 0,
    cacheReadTokens: usage.cache_read_input_tokens ?? 0,
    cacheWriteTokens: usage.cache_creation_input_tokens ?? 0,
  };
}

function addUsage(one: ReturnType<typeof readUsage>, other: ReturnType<typeof readUsage>) {
  return {
    inputTokens: one.inputTokens + other.inputTokens,
    outputTokens: one.outputTokens + other.outputTokens,
    cacheReadTokens: one.cacheReadTokens + other.cacheReadTokens,
    cacheWriteTokens: one.cacheWriteTokens + other.cacheWriteTokens,
  };
}

import type { FinishReason, LanguageModelUsage, TextStreamPart, ToolSet } from 'ai';
import { ProviderFailedError } from '../errors/turn-error.js';
import type { ModelAssistantPart, ModelStepEvent } from '../spec/model-port.js';
import type { Usage } from '../spec/turn.js';
import { createStepContent } from './step-content.js';
import { createWholeCharacters } from './whole-characters.js';

type StreamPart = TextStreamPart<ToolSet>;
type FinishPart = Extract<StreamPart, { type: 'finish-step' }>;

/** Turns the stream of one step into the port's events. What the stream reports as an error is thrown. */
export async function* readStepStream(
  vendor: string,
  stream: AsyncIterable<StreamPart>,
): AsyncGenerator<ModelStepEvent> {
  const content = createStepContent(vendor);
  const characters = createWholeCharacters();
  let end: FinishPart | undefined;
  for await (const part of stream) {
    if (part.type === 'error') throw part.error;
    if (part.type === 'finish-step') end = part;
    if (part.type === 'tool-call' && !part.providerExecuted) content.addCall(part);
    if (isTextPart(part)) content.addText(part);
    if (part.type !== 'text-delta') continue;
    const text = characters.next(part.text);
    if (text !== '') yield { type: 'text_delta', text };
  }
  if (!end)
    throw new ProviderFailedError('broken_stream', 'the stream ended before the answer did');
  yield finishStep(end, content.read());
}

type TextPart = Parameters<ReturnType<typeof createStepContent>['addText']>[0];

function isTextPart(part: StreamPart): part is TextPart {
  return /^(?:text|reasoning)-(?:start|delta|end)$/.test(part.type);
}

function finishStep(
  { finishReason, rawFinishReason, usage }: FinishPart,
  content: readonly ModelAssistantPart[],
): ModelStepEvent {
  const stopReason = readStopReason(finishReason, rawFinishReason);
  const counted = readUsage(usage);
  return { type: 'finished', content, stopReason, ...(counted && { usage: counted }) };
}

function readStopReason(unified: FinishReason, raw: string | undefined): string {
  // The packages say so when a connection was closed before the vendor gave a reason.
  if ((unified === 'other' || unified === 'error') && raw === undefined) {
    throw new ProviderFailedError('broken_stream', 'the stream ended before the answer did');
  }
  if (unified === 'error') throw new ProviderFailedError('unknown', `the answer failed (${raw})`);
  return stopReasons.get(unified) ?? raw ?? unified;
}

const stopReasons: ReadonlyMap<FinishReason, string> = new Map([
  ['stop', 'end_turn'],
  ['tool-calls', 'tool_calls'],
  ['length', 'max_tokens'],
  ['content-filter', 'refusal'],
]);

function readUsage({
  inputTokens,
  inputTokenDetails,
  outputTokens,
}: LanguageModelUsage): Usage | undefined {
  if (inputTokens === undefined && outputTokens === undefined) return undefined;
  const { cacheReadTokens, cacheWriteTokens } = inputTokenDetails;
  return {
    inputTokens: inputTokens ?? 0,
    outputTokens: outputTokens ?? 0,
    ...(cacheReadTokens !== undefined && { cacheReadTokens }),
    ...(cacheWriteTokens !== undefined && { cacheWriteTokens }),
  };
}

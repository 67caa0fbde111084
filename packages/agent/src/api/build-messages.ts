import type { Message, ModelMessage, ModelToolCall, ModelUserPart } from '@holdfast/provider-core';
import type { ConversationMessage } from '../message.js';
import type { StepState, TranscriptState, TurnState } from './transcript-state.js';
import { isToolCall } from './turn-position.js';

/**
 * The whole conversation as the model is given it. Every tool call has a result, since a vendor refuses a conversation
 * in which one has none: where the transcript has none, one is made up here, and only here. Pure.
 */
export function buildMessages(state: TranscriptState): readonly ModelMessage[] {
  const messages: ModelMessage[] = [...(state.header?.conversation ?? [])];
  for (const turn of state.turns) addTurn(messages, turn);
  return messages;
}

function addTurn(messages: ModelMessage[], { message, steps }: TurnState): void {
  if (!message) return;
  messages.push({ role: 'user', content: message });
  for (const step of steps) {
    const content = step.finished?.content ?? [];
    if (content.length === 0) continue;
    messages.push({ role: 'assistant', content });
    for (const call of content.filter(isToolCall)) messages.push(resultOf(step, call));
  }
}

function resultOf(step: StepState, { callId, toolName }: ModelToolCall): ModelMessage {
  const call = step.calls.get(callId);
  const { output, isError } = call?.finished ?? {
    output: call?.started ? UNKNOWN_OUTCOME : NEVER_CALLED,
    isError: true,
  };
  return { role: 'tool', callId, toolName, output, isError };
}

/** What the model is told of a call that was made and whose end nobody saw. */
export const UNKNOWN_OUTCOME =
  'Interrupted: this tool call was made, but its result was lost. It may have taken effect. It was not made again; check before you repeat it.';

const NEVER_CALLED = 'Interrupted: this tool call was not made.';

/** The parts of a message as they are kept and sent to the model. */
export function partsOf(message: Message): readonly ModelUserPart[] {
  return typeof message === 'string' ? [{ type: 'text', text: message }] : message;
}

/** A conversation that began elsewhere, as the model is given it. Its system messages repeat the agent's own. */
export function conversationOf(messages: readonly ConversationMessage[]): readonly ModelMessage[] {
  return messages.flatMap(({ role, content }): ModelMessage[] => {
    if (role === 'system') return [];
    const parts = partsOf(content);
    if (role === 'user') return [{ role, content: parts }];
    return [{ role, content: parts.flatMap((part) => (part.type === 'text' ? [part] : [])) }];
  });
}

import type { AssistantContent, ModelMessage as SdkMessage } from 'ai';
import type { ModelAssistantPart, ModelMessage, ModelUserPart } from '../spec/model-port.js';
import { type PartMetadata, readOpaquePart } from './opaque-part.wire.js';

/** A conversation as the AI SDK takes it. What another vendor wanted back is left out. */
export function toSdkMessages(vendor: string, messages: readonly ModelMessage[]): SdkMessage[] {
  return messages.flatMap((message) => toSdkMessage(vendor, message) ?? []);
}

function toSdkMessage(vendor: string, message: ModelMessage): SdkMessage | undefined {
  if (message.role === 'user') return { role: 'user', content: message.content.map(toUserPart) };
  if (message.role === 'assistant') {
    const content = toAssistantParts(vendor, message.content);
    return content.length > 0 ? { role: 'assistant', content } : undefined;
  }
  const { callId: toolCallId, toolName, output: value, isError } = message;
  const output = { type: isError ? ('error-text' as const) : ('text' as const), value };
  return { role: 'tool', content: [{ type: 'tool-result', toolCallId, toolName, output }] };
}

function toUserPart(part: ModelUserPart) {
  if (part.type === 'text') return { type: 'text' as const, text: part.text };
  return { type: 'image' as const, image: part.data, mediaType: part.mediaType };
}

type SdkPart = Exclude<AssistantContent, string>[number];

function toAssistantParts(vendor: string, content: readonly ModelAssistantPart[]): SdkPart[] {
  const parts: SdkPart[] = [];
  let mark: PartMetadata | undefined;
  for (const part of content) {
    // Models say a blank line before a call; Anthropic takes no blank text back.
    if (part.type === 'text' && part.text.trim() === '' && !mark) continue;
    if (part.type !== 'opaque') {
      parts.push({ ...toSaidPart(part), ...withMetadata(mark) });
      mark = undefined;
      continue;
    }
    const value = readOpaquePart(vendor, part);
    if (value?.kind === 'mark') mark = value.metadata;
    if (value?.kind !== 'reasoning') continue;
    parts.push({ type: 'reasoning', text: value.text, ...withMetadata(value.metadata) });
  }
  return parts;
}

function toSaidPart(part: Exclude<ModelAssistantPart, { type: 'opaque' }>): SdkPart {
  if (part.type === 'text') return { type: 'text', text: part.text };
  const { callId: toolCallId, toolName } = part;
  return { type: 'tool-call', toolCallId, toolName, input: toInput(part.input) };
}

/** A model can give an input that is no JSON object; no vendor takes that one back. */
function toInput(input: unknown): unknown {
  return typeof input === 'object' && input !== null && !Array.isArray(input) ? input : {};
}

function withMetadata(metadata: PartMetadata | undefined) {
  return metadata === undefined ? {} : { providerOptions: metadata };
}

import type { TextStreamPart, ToolSet } from 'ai';
import type { ModelAssistantPart } from '../spec/model-port.js';
import { type PartMetadata, readPartMetadata, writeOpaquePart } from './opaque-part.wire.js';
import { toWellFormedValue } from './well-formed-text.js';

type StreamPart = TextStreamPart<ToolSet>;
type CallPart = Extract<StreamPart, { type: 'tool-call' }>;
type TextPart = Extract<
  StreamPart,
  { type: 'text-start' | 'text-delta' | 'text-end' } | { type: `reasoning-${string}` }
>;

interface TextBlock {
  readonly kind: 'text' | 'reasoning';
  readonly id: string;
  text: string;
  metadata: PartMetadata | undefined;
}

interface CallBlock {
  readonly kind: 'tool_call';
  readonly call: CallPart;
}

/** Gathers what the model says in one step. */
export interface StepContent {
  readonly addText: (part: TextPart) => void;
  readonly addCall: (part: CallPart) => void;
  /** Everything said so far, in the model's order. */
  readonly read: () => readonly ModelAssistantPart[];
}

/** Starts with nothing said; `vendor` is who can read what is opaque. */
export function createStepContent(vendor: string): StepContent {
  const blocks: (TextBlock | CallBlock)[] = [];
  return {
    addText: (part) => addText(blocks, part),
    addCall: (call) => {
      blocks.push({ kind: 'tool_call', call });
    },
    read: () => blocks.flatMap((block) => writeBlock(vendor, block)),
  };
}

function addText(blocks: (TextBlock | CallBlock)[], part: TextPart): void {
  const kind = part.type.startsWith('text') ? 'text' : 'reasoning';
  const starts = part.type === 'text-start' || part.type === 'reasoning-start';
  const known = blocks.findLast(
    (block): block is TextBlock => block.kind === kind && block.id === part.id,
  );
  const block: TextBlock =
    starts || !known ? { kind, id: part.id, text: '', metadata: undefined } : known;
  if (block !== known) blocks.push(block);
  if ('text' in part) block.text += part.text;
  block.metadata = mergeMetadata(block.metadata, readPartMetadata(part.providerMetadata));
}

/** A signature may come in a later event than the id it belongs to. */
function mergeMetadata(
  earlier: PartMetadata | undefined,
  later: PartMetadata | undefined,
): PartMetadata | undefined {
  if (!earlier || !later) return later ?? earlier;
  const names = [...new Set([...Object.keys(earlier), ...Object.keys(later)])];
  return Object.fromEntries(names.map((name) => [name, { ...earlier[name], ...later[name] }]));
}

function writeBlock(vendor: string, block: TextBlock | CallBlock): readonly ModelAssistantPart[] {
  if (block.kind === 'tool_call') return writeCall(vendor, block.call);
  const text = block.text.toWellFormed();
  const { metadata } = block;
  if (block.kind === 'text') {
    const isKept = text !== '' || metadata !== undefined;
    return isKept ? [...writeMark(vendor, metadata), { type: 'text', text }] : [];
  }
  if (text === '' && metadata === undefined) return [];
  return [writeOpaquePart(vendor, { kind: 'reasoning', text, ...(metadata && { metadata }) })];
}

function writeCall(vendor: string, call: CallPart): readonly ModelAssistantPart[] {
  const { toolCallId: callId, toolName } = call;
  const input = toWellFormedValue(call.input);
  const mark = writeMark(vendor, readPartMetadata(call.providerMetadata));
  return [...mark, { type: 'tool_call', callId, toolName, input }];
}

function writeMark(
  vendor: string,
  metadata: PartMetadata | undefined,
): readonly ModelAssistantPart[] {
  return metadata ? [writeOpaquePart(vendor, { kind: 'mark', metadata })] : [];
}

import type { ModelRequest, ModelWindowName } from './model-request.js';
import type { ScriptedStep, ScriptedToolCall } from './scripted-step.js';

const DEFAULT_CHUNKS = 2;
const DEFAULT_INPUT_TOKENS = 10;
const DEFAULT_OUTPUT_TOKENS = 5;

/** An answer in neutral words, which each protocol writes in its own form. */
export interface Reply {
  /** Unique, for the ids of the answer and of its tool calls. */
  readonly id: string;
  readonly model: string;
  readonly thinking: string | undefined;
  readonly text: string;
  readonly pieces: readonly string[];
  readonly tools: readonly (ScriptedToolCall & { readonly callId: string })[];
  readonly stop: string | undefined;
  readonly usage: ReplyUsage;
}

/** Token counts, all of them given. */
export interface ReplyUsage {
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
}

/** A part of a streamed answer: an event to write, a moment to report, a pause, or the end of the connection. */
export type StreamPart =
  | {
      readonly kind: 'event';
      /** The event's name, where the protocol has names. */
      readonly name?: string;
      /** A string is sent as it is, anything else as JSON. */
      readonly data: object | string;
      readonly delta?: true;
      /** Sent in one write with the event that follows it. */
      readonly withNext?: true;
    }
  | { readonly kind: 'window'; readonly name: ModelWindowName }
  | { readonly kind: 'pause'; readonly ms: number }
  | { readonly kind: 'break' };

/** An error as the protocols write it, in neutral words. */
export interface ReplyError {
  readonly status: number;
  readonly type: string | undefined;
  readonly message: string;
  readonly detail: object;
}

/** Fills a step with what it leaves open. */
export function createReply(id: string, request: ModelRequest, step: ScriptedStep): Reply {
  const tools = (step.tools ?? []).map((tool, index) => ({ ...tool, callId: `${id}_${index}` }));
  const text = step.text ?? (tools.length > 0 ? '' : 'OK.');
  return {
    id,
    model: request.model,
    thinking: step.thinking,
    text,
    pieces: cutText(text, step.chunks ?? DEFAULT_CHUNKS),
    tools,
    stop: step.stop,
    usage: readUsage(step),
  };
}

/** The token counts that a step reports. */
export function readUsage({ usage }: ScriptedStep): ReplyUsage {
  return {
    input: usage?.input ?? DEFAULT_INPUT_TOKENS,
    output: usage?.output ?? DEFAULT_OUTPUT_TOKENS,
    cacheRead: usage?.cacheRead ?? 0,
    cacheWrite: usage?.cacheWrite ?? 0,
  };
}

/**
 * Puts the pauses between the deltas of a streamed answer, and its middle after the first half of them: there the window
 * is reported, and a scripted break or error ends the stream.
 */
export function placeMiddle(
  parts: readonly StreamPart[],
  step: ScriptedStep,
  writeError: (type: string) => StreamPart,
): readonly StreamPart[] {
  const deltas = parts.filter((part) => part.kind === 'event' && part.delta).length;
  let seen = 0;
  const placed: StreamPart[] = [];
  for (const part of parts) {
    placed.push(part);
    if (part.kind !== 'event' || !part.delta) continue;
    seen += 1;
    if (seen === Math.ceil(deltas / 2)) {
      placed.push({ kind: 'window', name: 'mid_stream' });
      if (step.midStreamError !== undefined) return [...placed, writeError(step.midStreamError)];
      if (step.breakStream) return [...placed, { kind: 'break' }];
    }
    if (step.chunkDelayMs) placed.push({ kind: 'pause', ms: step.chunkDelayMs });
  }
  return placed;
}

/** Cuts at code points, so that no half of an emoji is ever sent. */
function cutText(text: string, chunks: number): readonly string[] {
  const characters = [...text];
  const size = Math.max(1, Math.ceil(characters.length / Math.max(1, chunks)));
  const pieces: string[] = [];
  for (let start = 0; start < characters.length; start += size) {
    pieces.push(characters.slice(start, start + size).join(''));
  }
  return pieces;
}

import {
  type ModelAssistantPart,
  type ModelStepEvent,
  ProviderFailedError,
  TimedOutError,
} from '@holdfast/provider-core';
import { buildMessages } from './build-messages.js';
import { raceDeadline } from './race.js';
import { record, type TurnContext, turnOf } from './turn-context.js';
import { isToolCall } from './turn-position.js';

type FinishedStep = Extract<ModelStepEvent, { readonly type: 'finished' }>;

/** Makes one request to the model and records what it said. What must not become an answer is discarded and thrown. */
export async function runStep(context: TurnContext, step: number): Promise<void> {
  const { turnId, emit } = context;
  await record(context, { type: 'step_started', turnId, step });
  const { content, usage, stopReason } = withDistinctCalls(await streamStep(context));
  const failure = findFailure(content, stopReason);
  const ending = { turnId, step, usage, stopReason };
  if (failure) await record(context, { type: 'step_discarded', ...ending });
  // Not synced: the next line is, and before that nothing follows from this one.
  else await record(context, { type: 'step_finished', ...ending, content }, { sync: false });
  const used = turnOf(context)?.usage;
  if (used) emit({ type: 'usage', usage: used });
  if (failure) throw failure;
  const text = textOf(content);
  if (text.trim() !== '') emit({ type: 'answer', text, final: false });
}

/** What the model said, without its tool calls. */
export function textOf(content: readonly ModelAssistantPart[]): string {
  return content.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('');
}

async function streamStep(context: TurnContext): Promise<FinishedStep> {
  const { model, config, tools, transcript, signal, emit } = context;
  const silence = new AbortController();
  const stream = model.step({
    system: config.systemPrompt,
    messages: buildMessages(transcript.state),
    tools: [...tools.values()].map(({ traits: _traits, ...tool }) => tool),
    signal: AbortSignal.any([signal, silence.signal]),
    maxOutputTokens: config.maxOutputTokens,
  });
  const events = stream[Symbol.asyncIterator]();
  try {
    for (;;) {
      const event = await nextEvent(events, context);
      if (event.type === 'finished') return event;
      emit(event);
    }
  } finally {
    silence.abort();
  }
}

async function nextEvent(
  events: AsyncIterator<ModelStepEvent>,
  { signal, options }: TurnContext,
): Promise<ModelStepEvent> {
  const limitMs = options.limits.inactivityMs;
  const limit = { limitMs, signal, clock: options.clock };
  const next = await raceDeadline(events.next(), 'silent' as const, limit);
  if (next === 'silent') {
    throw new TimedOutError({ awaiting: "the model's next word", limitMs, layer: 'agent' });
  }
  if (next.done) {
    throw new ProviderFailedError('broken_stream', 'the stream ended before the answer did');
  }
  return next.value;
}

/** An empty text is never an answer, a refusal is a failure, and a call that was cut short is never made. */
function findFailure(
  content: readonly ModelAssistantPart[],
  stopReason: string,
): ProviderFailedError | undefined {
  const text = textOf(content);
  const hasCalls = content.some(isToolCall);
  if (stopReason === 'refusal') return new ProviderFailedError('refusal', text || 'no text given');
  if (hasCalls && stopReason === 'max_tokens') {
    const detail = 'the output limit cut a tool call short; raise maxOutputTokens';
    return new ProviderFailedError('unknown', detail);
  }
  if (hasCalls || text.trim() !== '') return undefined;
  return new ProviderFailedError('unknown', `the model gave no answer (${stopReason})`);
}

/** Calls are told apart by their id within a step; a vendor that repeats one, or gives none, gets others. */
function withDistinctCalls(finished: FinishedStep): FinishedStep {
  const seen = new Set<string>();
  const content = finished.content.map((part, index) => {
    if (!isToolCall(part)) return part;
    const isUsable = part.callId !== '' && !seen.has(part.callId);
    const callId = isUsable ? part.callId : `call_${index}_${part.callId}`;
    seen.add(callId);
    return { ...part, callId };
  });
  return { ...finished, content };
}

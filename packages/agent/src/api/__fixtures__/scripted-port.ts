import type {
  ModelAssistantPart,
  ModelConfig,
  ModelMessage,
  ModelPort,
  ModelStepEvent,
  ModelStepRequest,
} from '@holdfast/provider-core';

/** What the model does in one step; it may look at what it was given. */
export type ScriptedStep = (request: ModelStepRequest) => Reply | Promise<Reply>;

interface Reply {
  readonly content: readonly ModelAssistantPart[];
  readonly stopReason?: string;
}

export const say = (text: string, stopReason = 'end_turn'): Reply => ({
  content: text === '' ? [] : [{ type: 'text', text }],
  stopReason,
});

export const call = (toolName: string, input: unknown = {}, callId = `id-${toolName}`): Reply => ({
  content: [{ type: 'tool_call', callId, toolName, input }],
  stopReason: 'tool_calls',
});

/** A model that follows a script and keeps every request it was sent. It lives in memory and never forgets its log. */
export class ScriptedPort implements ModelPort {
  readonly provider = 'scripted';
  readonly requests: ModelStepRequest[] = [];
  readonly configs: ModelConfig[] = [];

  constructor(
    readonly answer: ScriptedStep,
    readonly model = 'm-1',
  ) {}

  readonly open = async (config: ModelConfig): Promise<ModelPort> => {
    this.configs.push(config);
    return this;
  };

  async *step(request: ModelStepRequest): AsyncIterable<ModelStepEvent> {
    request.signal.throwIfAborted();
    this.requests.push(request);
    const { content, stopReason = 'end_turn' } = await this.answer(request);
    request.signal.throwIfAborted();
    for (const part of content) {
      if (part.type === 'text') yield { type: 'text_delta', text: part.text };
    }
    const usage = { inputTokens: 10, outputTokens: 1 };
    yield { type: 'finished', content, usage, stopReason };
  }

  /** The conversations it was sent, one line a message. */
  conversations(): string[][] {
    return this.requests.map(({ messages }) => messages.map(lineOf));
  }
}

export function lineOf(message: ModelMessage): string {
  if (message.role === 'tool') return `tool${message.isError ? '!' : ''}: ${message.output}`;
  return `${message.role}: ${message.content.map(partOf).join('')}`;
}

function partOf(part: ModelAssistantPart | { readonly type: 'image' }): string {
  if (part.type === 'text') return part.text;
  return part.type === 'tool_call' ? `<${part.toolName}>` : `[${part.type}]`;
}

/** The last message a request carries, as text. */
export function lastLine({ messages }: ModelStepRequest): string {
  const last = messages.at(-1);
  return last ? lineOf(last) : '';
}

import { type Options, query, type SDKUserMessage } from '@anthropic-ai/claude-agent-sdk';
import type { Measurement } from '../alternate.js';
import type { BenchPlace } from '../bench-place.js';
import { nextTag, taggedAnswer, taggedMessage } from '../timing-model.js';
import { claudeEnv } from './claude-launch.js';

/** What the vendor's SDK is told, so that it sends what the CLI itself would. */
function sdkOptions(place: BenchPlace): Options {
  return {
    cwd: place.place.workingDir,
    env: claudeEnv(place),
    pathToClaudeCodeExecutable: place.cli.binary,
    model: place.fixture.model,
    permissionMode: 'default',
    systemPrompt: { type: 'preset', preset: 'claude_code' },
    settingSources: ['user'],
  };
}

/** One call of the SDK a turn: `query()` with `resume`, in this process. */
export async function measureQuery(
  place: BenchPlace,
  sessionId: string,
): Promise<Measurement | undefined> {
  const tag = nextTag();
  const start = performance.now();
  const options = { ...sdkOptions(place), resume: sessionId };
  return readTurn(query({ prompt: taggedMessage(tag), options }), { tag, start });
}

/** The SDK's streaming input: one process for all turns. */
export class ClaudeSdkStream {
  readonly #messages: SDKUserMessage[] = [];
  readonly #query: ReturnType<typeof query>;
  #wake: () => void = () => {};
  #isOver = false;

  constructor(place: BenchPlace) {
    this.#query = query({ prompt: this.#read(), options: sdkOptions(place) });
  }

  async turn(): Promise<Measurement | undefined> {
    const tag = nextTag();
    const start = performance.now();
    const message = { role: 'user', content: taggedMessage(tag) } as const;
    this.#messages.push({ type: 'user', message, parent_tool_use_id: null, session_id: '' });
    this.#wake();
    const iterator = this.#query[Symbol.asyncIterator]();
    return readTurn({ next: () => iterator.next() }, { tag, start });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isOver = true;
    this.#wake();
    this.#query.close();
  }

  async *#read(): AsyncGenerator<SDKUserMessage> {
    while (!this.#isOver) {
      const message = this.#messages.shift();
      if (message) yield message;
      else await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }
}

type SdkMessages = Pick<ReturnType<typeof query>, 'next'>;

/** `answer` is the assistant's message, `durable` the result; of a call that ends with it, its end. */
async function readTurn(
  messages: SdkMessages | { readonly next: SdkMessages['next'] },
  { tag, start }: { readonly tag: string; readonly start: number },
): Promise<Measurement | undefined> {
  let answer = Number.NaN;
  for (;;) {
    const { value, done } = await messages.next();
    if (done) return undefined;
    const at = performance.now() - start;
    if (value.type === 'assistant') answer = at;
    if (value.type !== 'result') continue;
    const isRight = 'result' in value && value.result === taggedAnswer(tag);
    return isRight ? { answer, durable: at } : undefined;
  }
}

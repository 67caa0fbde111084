import { connect, createServer, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';
import {
  type ModelProtocol,
  type ModelRequest,
  type ScriptedModelOptions,
  type ScriptedStep,
  startScriptedModel,
} from '../../certification/index.js';
import type {
  ModelMessage,
  ModelPort,
  ModelProviderDefinition,
  ModelStepEvent,
  ModelStepRequest,
} from '../../spec/model-port.js';

/** What differs between the model APIs under test. */
export interface ModelApi {
  readonly definition: ModelProviderDefinition;
  readonly protocol: ModelProtocol;
  /** What stands behind the scripted model's address. */
  readonly path: string;
}

export const key = 'key-of-the-test';

/** A scripted model behind a counter of closed connections, and the port of the API that reaches it. */
export async function openModelPlace(api: ModelApi, options: ScriptedModelOptions = {}) {
  const model = await startScriptedModel(options);
  onTestFinished(() => model.stop());
  const forwarder = await startForwarder(model.port);
  const baseUrl = `http://127.0.0.1:${forwarder.port}${api.path}`;
  const port = await api.definition.openModel({ model: 'gemini-3-pro', apiKey: key, baseUrl });
  return { model, port, baseUrl, closedConnections: forwarder.closed };
}

async function startForwarder(target: number) {
  const open = new Set<Socket>();
  let closed = 0;
  const server = createServer((client) => {
    const upstream = connect(target, '127.0.0.1');
    open.add(client);
    client.on('close', () => {
      open.delete(client);
      closed += 1;
    });
    client.pipe(upstream).pipe(client);
    // Whichever end goes first takes the other along; an error is followed by its close.
    for (const [one, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      one.on('error', () => undefined);
      one.on('close', () => other.destroy());
    }
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  onTestFinished(() => {
    for (const socket of open) socket.destroy();
    server.close();
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('unreachable: no TCP port');
  return { port: address.port, closed: () => closed };
}

export const shell = {
  name: 'shell',
  description: 'Runs a command.',
  inputSchema: {
    type: 'object',
    properties: { command: { type: 'string' } },
    required: ['command'],
    additionalProperties: false,
  },
};

export function user(text: string): ModelMessage {
  return { role: 'user', content: [{ type: 'text', text }] };
}

type AskOptions = Partial<Omit<ModelStepRequest, 'messages'>>;

/** Runs one step to its end. */
export async function ask(
  port: ModelPort,
  messages: readonly ModelMessage[],
  options: AskOptions = {},
) {
  const events: ModelStepEvent[] = [];
  const request = { messages, tools: [], signal: new AbortController().signal, ...options };
  for await (const event of port.step(request)) events.push(event);
  const end = events.at(-1);
  if (end?.type !== 'finished') throw new TypeError('The step did not finish.');
  const deltas = events.flatMap((event) => (event.type === 'text_delta' ? [event.text] : []));
  return { ...end, deltas };
}

/** The text of what a step said. */
export function textOf(content: Awaited<ReturnType<typeof ask>>['content']): string {
  return content.map((part) => (part.type === 'text' ? part.text : '')).join('');
}

/** Scripts every answer by the number of the request. */
export function inOrder(...steps: readonly ScriptedStep[]) {
  let next = 0;
  return (_request: ModelRequest): ScriptedStep | undefined => {
    next += 1;
    return steps[next - 1];
  };
}

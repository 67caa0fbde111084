import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createInterface } from 'node:readline';
import { answerAnthropic, answerOpenAi } from './timing-model-answers.js';

/**
 * A loopback model for timing: it answers at once, without parsing the request, with the tag of the last message, and
 * runs in a process of its own so that it takes no turn of the event loop that is measured.
 */
export interface TimingModel {
  readonly baseUrl: string;
  /** The tags of every message in the last request of each conversation, in order. */
  readonly conversations: () => Promise<readonly (readonly string[])[]>;
  readonly stop: () => Promise<void>;
}

/** The argument that makes the bench program be the model. */
export const SERVE_MODEL = 'serve-timing-model';

/** Starts the model. `program` is the bench itself. */
export async function startTimingModel(program: string): Promise<TimingModel> {
  const child = spawn(process.execPath, [program, SERVE_MODEL], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: {},
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const { value: port } = await lines.next();
  if (!port) throw new Error('The timing model did not start.');
  const baseUrl = `http://127.0.0.1:${port}`;
  return {
    baseUrl,
    conversations: async () =>
      (await fetch(`${baseUrl}/conversations`)).json() as Promise<string[][]>,
    stop: async () => {
      const ended = once(child, 'exit');
      child.kill();
      await ended;
    },
  };
}

/** A message that the model answers with its tag. */
export function taggedMessage(tag: string): string {
  return `PING-${tag} reply`;
}

/** What the model answers to it. */
export function taggedAnswer(tag: string): string {
  return `PONG-${tag}`;
}

let tags = 0;

/** A tag that no other message of this run has. */
export function nextTag(): string {
  tags += 1;
  return `t${process.pid}x${tags}`;
}

/** Is the model, until whoever started it ends. */
export async function serveTimingModel(): Promise<void> {
  const conversations = new Map<string, readonly string[]>();
  const server = createServer({ keepAliveTimeout: 0 }, (request, response) => {
    void answer(request, response, conversations);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The model has no port.');
  process.stdout.write(`${address.port}\n`);
  process.stdin.resume().on('end', () => process.exit(0));
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  conversations: Map<string, readonly string[]>,
): Promise<void> {
  const path = request.url ?? '/';
  if (path === '/conversations')
    return void response.end(JSON.stringify([...conversations.values()]));
  const chunks: Uint8Array[] = [];
  try {
    for await (const chunk of request) chunks.push(chunk);
  } catch {
    return;
  }
  const body = Buffer.concat(chunks);
  const text = taggedAnswer(readLastTag(body));
  if (path.startsWith('/v1/messages/count_tokens')) {
    response.setHeader('content-type', 'application/json').end('{"input_tokens":10}');
  } else if (path.startsWith('/v1/messages')) answerAnthropic(response, body, text);
  else if (path.startsWith('/v1/responses')) answerOpenAi(response, text);
  else response.writeHead(path === '/' ? 200 : 404).end();
  noteConversation(conversations, body);
}

function readLastTag(body: Buffer): string {
  const start = body.lastIndexOf('PING-');
  const tag = body.subarray(start + 5, start + 45).toString('latin1');
  return (start >= 0 && /^[A-Za-z0-9]+/.exec(tag)?.[0]) || 'none';
}

/** By its first tag: a conversation only grows. A request without tools is beside the conversation. */
function noteConversation(conversations: Map<string, readonly string[]>, body: Buffer): void {
  if (body.length > MAX_NOTED_BYTES || !/"(input_schema|parameters)"/.test(body.toString('latin1')))
    return;
  const found = [...body.toString('latin1').matchAll(/PING-([A-Za-z0-9]+) reply/g)];
  const [first] = found;
  if (first?.[1])
    conversations.set(
      first[1],
      found.map((match) => match[1] ?? ''),
    );
}

/** Beyond it the search would take longer than a turn. */
const MAX_NOTED_BYTES = 4_000_000;

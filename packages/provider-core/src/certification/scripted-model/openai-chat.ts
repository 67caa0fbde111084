import { type JsonRecord, readJsonRecord, readJsonRecords, readString } from './json-value.js';
import type { ModelProtocolForm } from './model-protocol.js';
import {
  type ConversationItem,
  type ModelRequest,
  type ReceivedRequest,
  readSystemTexts,
} from './model-request.js';
import { findImages, readDataUrl, withImages } from './received-image.js';
import type { Reply, ReplyError, StreamPart } from './reply.js';
import { isCompaction } from './user-messages.js';

/** OpenAI chat completions, streamed and whole; the protocol of most compatible servers. */
export const openaiChat: ModelProtocolForm = {
  protocol: 'openai-chat',
  isPath: (path) => path === '/v1/chat/completions',
  readRequest,
  writeStream,
  writeStreamError: (_reply, type) =>
    event({ error: { type, code: type, message: 'Scripted error in the middle of the stream.' } }),
  writeWhole: (reply) => ({
    ...writeEnvelope(reply, 'chat.completion'),
    choices: [{ index: 0, message: writeMessage(reply), finish_reason: readFinish(reply) }],
    usage: writeUsage(reply),
  }),
  writeError: ({ status, type, message, detail }: ReplyError) => {
    const known = errorTypes.get(status) ?? 'server_error';
    return { error: { message, type: type ?? known, param: null, code: type ?? null, ...detail } };
  },
  writeTokenCount: ({ input }) => ({ input_tokens: input }),
};

const errorTypes: ReadonlyMap<number, string> = new Map([
  [400, 'invalid_request_error'],
  [401, 'authentication_error'],
  [404, 'invalid_request_error'],
  [429, 'requests'],
]);

const finishReasons: ReadonlyMap<string, string> = new Map([
  ['max_tokens', 'length'],
  ['refusal', 'content_filter'],
  ['end_turn', 'stop'],
  ['tool_use', 'tool_calls'],
]);

function readRequest(received: ReceivedRequest): ModelRequest {
  const body = readJsonRecord(received.bodyText);
  const messages = readJsonRecords(body['messages']).flatMap(readMessage);
  const toolNames = readJsonRecords(body['tools']).flatMap(
    (tool) => readString(readJsonRecord(tool['function'])['name']) ?? [],
  );
  return {
    ...received,
    protocol: 'openai-chat',
    ...(isCompaction(messages) ? { kind: 'side', sideReason: 'compaction' } : { kind: 'main' }),
    model: readString(body['model']) ?? '',
    stream: body['stream'] === true,
    systemText: readSystemTexts(messages).join('\n'),
    messages,
    toolNames,
  };
}

function readMessage(message: JsonRecord): readonly ConversationItem[] {
  const role = readRole(message['role']);
  const texts = readTexts(message['content']);
  if (role === 'tool') {
    return [{ role, texts, callId: readString(message['tool_call_id']) ?? '' }];
  }
  const images = findImages(message['content'], readImageBlock);
  const own = texts.length + images.length > 0 ? [withImages({ role, texts }, () => images)] : [];
  return [...own, ...readJsonRecords(message['tool_calls']).map(readToolCall)];
}

function readRole(role: unknown): ConversationItem['role'] {
  const known = ['assistant', 'system', 'developer', 'tool'] as const;
  return known.find((name) => name === role) ?? 'user';
}

function readImageBlock(block: JsonRecord) {
  return readDataUrl(readJsonRecord(block['image_url'])['url']);
}

function readToolCall(call: JsonRecord): ConversationItem {
  const toolName = readString(readJsonRecord(call['function'])['name']) ?? '';
  return { role: 'assistant', texts: [], callId: readString(call['id']) ?? '', toolName };
}

/** An assistant that only calls tools has `content: null`, or an empty text in its place. */
function readTexts(content: unknown): readonly string[] {
  if (typeof content === 'string') return content === '' ? [] : [content];
  return readJsonRecords(content).flatMap((block) => readString(block['text']) ?? []);
}

function writeStream(reply: Reply): readonly StreamPart[] {
  const { thinking, text, pieces, tools } = reply;
  return [
    chunk(reply, { role: 'assistant', content: '' }),
    ...(thinking === undefined ? [] : [delta(reply, { reasoning_content: thinking })]),
    ...(text === '' ? [] : pieces.map((content) => delta(reply, { content }))),
    ...tools.flatMap((_tool, index) => writeToolDeltas(reply, index)),
    chunk(reply, {}, readFinish(reply)),
    event({
      ...writeEnvelope(reply, 'chat.completion.chunk'),
      choices: [],
      usage: writeUsage(reply),
    }),
    event('[DONE]'),
  ];
}

function writeToolDeltas(reply: Reply, index: number): readonly StreamPart[] {
  return writeToolCalls(reply)
    .slice(index, index + 1)
    .flatMap(({ id, type, function: called }): readonly StreamPart[] => [
      chunk(reply, {
        tool_calls: [{ index, id, type, function: { name: called.name, arguments: '' } }],
      }),
      delta(reply, { tool_calls: [{ index, function: { arguments: called.arguments } }] }),
      { kind: 'window', name: 'after_tool_block' },
    ]);
}

function writeMessage(reply: Reply): object {
  const { thinking, text, tools } = reply;
  return {
    role: 'assistant',
    content: text === '' ? null : text,
    ...(thinking !== undefined && { reasoning_content: thinking }),
    ...(tools.length > 0 && { tool_calls: writeToolCalls(reply) }),
  };
}

function writeToolCalls({ tools }: Reply) {
  return tools.map(({ callId, name, input }) => ({
    id: `call_${callId}`,
    type: 'function',
    function: { name, arguments: JSON.stringify(input) },
  }));
}

function writeEnvelope({ id, model }: Reply, object: string): object {
  return { id: `chatcmpl-${id}`, object, created: 0, model };
}

function writeUsage({ usage }: Reply): object {
  return {
    prompt_tokens: usage.input,
    completion_tokens: usage.output,
    total_tokens: usage.input + usage.output,
    prompt_tokens_details: { cached_tokens: usage.cacheRead },
  };
}

function readFinish({ stop, tools }: Reply): string {
  if (stop !== undefined) return finishReasons.get(stop) ?? stop;
  return tools.length > 0 ? 'tool_calls' : 'stop';
}

function chunk(reply: Reply, change: object, finish: string | null = null) {
  const choices = [{ index: 0, delta: change, finish_reason: finish }];
  return event({ ...writeEnvelope(reply, 'chat.completion.chunk'), choices });
}

function delta(reply: Reply, change: object): StreamPart {
  return { ...chunk(reply, change), delta: true };
}

function event(data: object | string) {
  return { kind: 'event', data } as const;
}

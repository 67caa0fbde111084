import { type JsonRecord, readJsonRecord, readJsonRecords, readString } from './json-value.js';
import type { ModelProtocolForm } from './model-protocol.js';
import type { ConversationItem, ModelRequest, ReceivedRequest } from './model-request.js';
import { findImages, readImage, withImages } from './received-image.js';
import type { Reply, ReplyError, StreamPart } from './reply.js';
import { isCompaction } from './user-messages.js';

const modelPath =
  /^\/v1beta\/models\/(?<model>[^/:]+):(?<method>generateContent|streamGenerateContent|countTokens)$/;

/** Gemini `generateContent`, streamed (`alt=sse`) and whole, with its token count. */
export const gemini: ModelProtocolForm = {
  protocol: 'gemini',
  isPath: (path) => modelPath.test(path),
  readRequest,
  writeStream,
  writeStreamError: (_reply, status) =>
    event({ error: { code: 500, status, message: 'Scripted error in the middle of the stream.' } }),
  writeWhole: (reply) => writeChunk(reply, writeParts(reply), readFinish(reply)),
  writeError: ({ status, type, message, detail }: ReplyError) => {
    const known = statusNames.get(status) ?? 'INTERNAL';
    return { error: { code: status, message, status: type ?? known, ...detail } };
  },
  writeTokenCount: ({ input }) => ({ totalTokens: input }),
};

const statusNames: ReadonlyMap<number, string> = new Map([
  [400, 'INVALID_ARGUMENT'],
  [401, 'UNAUTHENTICATED'],
  [403, 'PERMISSION_DENIED'],
  [404, 'NOT_FOUND'],
  [429, 'RESOURCE_EXHAUSTED'],
  [503, 'UNAVAILABLE'],
  [529, 'UNAVAILABLE'],
]);

const finishReasons: ReadonlyMap<string, string> = new Map([
  ['max_tokens', 'MAX_TOKENS'],
  ['refusal', 'SAFETY'],
  ['end_turn', 'STOP'],
  ['tool_use', 'STOP'],
]);

function readRequest(received: ReceivedRequest): ModelRequest {
  const body = readJsonRecord(received.bodyText);
  const path = modelPath.exec(received.path)?.groups;
  const messages = readJsonRecords(body['contents']).flatMap(readContent);
  const system = readJsonRecord(body['systemInstruction']);
  const toolNames = readJsonRecords(body['tools'])
    .flatMap((tool) => readJsonRecords(tool['functionDeclarations']))
    .flatMap((declaration) => readString(declaration['name']) ?? []);
  const sideReason = findSideReason(path?.['method'], messages);
  return {
    ...received,
    protocol: 'gemini',
    kind: sideReason ? 'side' : 'main',
    ...(sideReason && { sideReason }),
    model: path?.['model'] ?? '',
    stream: path?.['method'] === 'streamGenerateContent',
    systemText: readTexts(readJsonRecords(system['parts'])).join('\n'),
    messages,
    toolNames,
  };
}

function findSideReason(method: string | undefined, messages: readonly ConversationItem[]) {
  if (method === 'countTokens') return 'token_count';
  return isCompaction(messages) ? 'compaction' : undefined;
}

/** Gemini has no role for tools: results stand in the user's contents, calls in the model's. */
function readContent(content: JsonRecord): readonly ConversationItem[] {
  const role = content['role'] === 'model' ? 'assistant' : 'user';
  const parts = readJsonRecords(content['parts']);
  const texts = readTexts(parts);
  const images = findImages(parts, ({ inlineData }) => {
    const { mimeType, data } = readJsonRecord(inlineData);
    return readImage(mimeType, data);
  });
  const own = texts.length + images.length > 0 ? [withImages({ role, texts }, () => images)] : [];
  const tools = parts.flatMap(readToolPart);
  return role === 'assistant' ? [...own, ...tools] : [...tools, ...own];
}

function readToolPart(part: JsonRecord): readonly ConversationItem[] {
  if ('functionCall' in part) {
    const called = readJsonRecord(part['functionCall']);
    const toolName = readString(called['name']) ?? '';
    return [{ role: 'assistant', texts: [], callId: readString(called['id']) ?? '', toolName }];
  }
  if (!('functionResponse' in part)) return [];
  const given = readJsonRecord(part['functionResponse']);
  const response = readJsonRecord(given['response']);
  const text = readString(response['content']) ?? JSON.stringify(response);
  return [{ role: 'tool', texts: [text], callId: readString(given['id']) ?? '' }];
}

function readTexts(parts: readonly JsonRecord[]): readonly string[] {
  return parts.flatMap((part) =>
    part['thought'] === true ? [] : (readString(part['text']) ?? []),
  );
}

function writeStream(reply: Reply): readonly StreamPart[] {
  const { pieces, text } = reply;
  const said = text === '' ? [] : pieces.map((piece) => delta(reply, { text: piece }));
  const calls = writeToolParts(reply).flatMap((part): readonly StreamPart[] => [
    delta(reply, part),
    { kind: 'window', name: 'after_tool_block' },
  ]);
  return [
    ...writeThoughts(reply).map((part) => delta(reply, part)),
    ...said,
    ...calls,
    event(writeChunk(reply, [{ text: '' }], readFinish(reply))),
  ];
}

function writeParts(reply: Reply): readonly object[] {
  const said = reply.text === '' ? [] : [{ text: reply.text }];
  return [...writeThoughts(reply), ...said, ...writeToolParts(reply)];
}

function writeThoughts({ thinking }: Reply): readonly object[] {
  return thinking === undefined ? [] : [{ text: thinking, thought: true }];
}

/** The first call of an answer carries the signature that must come back with it. */
function writeToolParts({ id, tools }: Reply): readonly object[] {
  return tools.map(({ callId, name, input }, index) => ({
    functionCall: { id: `call_${callId}`, name, args: input },
    ...(index === 0 && { thoughtSignature: `signature-${id}` }),
  }));
}

function writeChunk(reply: Reply, parts: readonly object[], finishReason?: string) {
  const { id, model, usage } = reply;
  return {
    candidates: [
      { content: { role: 'model', parts }, index: 0, ...(finishReason && { finishReason }) },
    ],
    modelVersion: model,
    responseId: id,
    ...(finishReason && {
      usageMetadata: {
        promptTokenCount: usage.input,
        candidatesTokenCount: usage.output,
        totalTokenCount: usage.input + usage.output,
        cachedContentTokenCount: usage.cacheRead,
      },
    }),
  };
}

function readFinish({ stop }: Reply): string {
  return stop === undefined ? 'STOP' : (finishReasons.get(stop) ?? stop);
}

function delta(reply: Reply, part: object): StreamPart {
  return { ...event(writeChunk(reply, [part])), delta: true };
}

function event(data: object) {
  return { kind: 'event', data } as const;
}

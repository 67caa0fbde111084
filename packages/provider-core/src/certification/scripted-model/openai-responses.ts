import { type JsonRecord, readJsonRecord, readJsonRecords, readString } from './json-value.js';
import type { ModelProtocolForm } from './model-protocol.js';
import {
  type ConversationItem,
  type ModelRequest,
  type ReceivedRequest,
  readSystemTexts,
  type SideReason,
} from './model-request.js';
import { findImages, readDataUrl, withImages } from './received-image.js';
import type { Reply, ReplyError, StreamPart } from './reply.js';
import { isCompaction } from './user-messages.js';

/** OpenAI Responses, streamed and whole. */
export const openaiResponses: ModelProtocolForm = {
  protocol: 'openai-responses',
  isPath: (path) => path === '/v1/responses',
  readRequest,
  writeStream: (reply) => number(writeEvents(reply)),
  writeStreamError: (reply, code) =>
    event('response.failed', {
      sequence_number: 0,
      response: {
        ...writeEnvelope(reply, 'failed'),
        error: { code, message: 'Scripted error in the middle of the stream.' },
      },
    }),
  writeWhole: writeEnd,
  writeError: ({ status, type, message, detail }: ReplyError) => {
    const known = errorTypes.get(status) ?? 'server_error';
    return { error: { type: type ?? known, code: type ?? known, message, ...detail } };
  },
  writeTokenCount: ({ input }) => ({ input_tokens: input }),
};

const errorTypes: ReadonlyMap<number, string> = new Map([
  [400, 'invalid_request_error'],
  [401, 'invalid_api_key'],
  [429, 'rate_limit_exceeded'],
  [529, 'server_is_overloaded'],
]);

const incompleteReasons: ReadonlyMap<string, string> = new Map([
  ['max_tokens', 'max_output_tokens'],
  ['refusal', 'content_filter'],
]);

function readRequest(received: ReceivedRequest): ModelRequest {
  const body = readJsonRecord(received.bodyText);
  const messages = readInput(body['input']);
  const toolNames = readJsonRecords(body['tools']).map(
    (tool) => readString(tool['name']) ?? readString(tool['type']) ?? '',
  );
  const sideReason = findSideReason(body, { toolNames, messages });
  const instructions = readString(body['instructions']);
  const nativeSessionId = readString(readJsonRecord(body['client_metadata'])['thread_id']);
  return {
    ...received,
    protocol: 'openai-responses',
    kind: sideReason ? 'side' : 'main',
    ...(sideReason && { sideReason }),
    model: readString(body['model']) ?? '',
    stream: body['stream'] === true,
    ...(nativeSessionId !== undefined && { nativeSessionId }),
    systemText: [instructions ?? [], readSystemTexts(messages)].flat().join('\n'),
    messages,
    toolNames,
  };
}

/**
 * Codex writes into each body what the request is for; the thread that invents a title has no tools besides.
 */
function findSideReason(
  body: JsonRecord,
  {
    toolNames,
    messages,
  }: { readonly toolNames: readonly string[]; readonly messages: readonly ConversationItem[] },
): SideReason | undefined {
  const metadata = readJsonRecord(body['client_metadata']);
  const turn = readJsonRecord(metadata['x-codex-turn-metadata']);
  if (turn['request_kind'] === 'compaction' || isCompaction(messages)) return 'compaction';
  if (turn['thread_source'] === 'thread_title') return 'no_tools';
  // Without a tool a plain API client has a conversation like any other; Codex has a side thread.
  const isCodex = 'client_metadata' in body;
  if (isCodex && toolNames.length === 0 && !hasToolsAsItem(body)) return 'no_tools';
  return turn['thread_source'] === 'subagent' ? 'subagent' : undefined;
}

/** The newest models get their tools as an item of the input, not beside it. */
function hasToolsAsItem(body: JsonRecord): boolean {
  return readJsonRecords(body['input']).some((item) => item['type'] === 'additional_tools');
}

function readInput(input: unknown): readonly ConversationItem[] {
  if (typeof input === 'string') return [{ role: 'user', texts: [input] }];
  return readJsonRecords(input).flatMap(readItem);
}

function readItem(item: JsonRecord): readonly ConversationItem[] {
  const type = readString(item['type']) ?? 'message';
  if (type === 'message')
    return [
      withImages({ role: readRole(item['role']), texts: readTexts(item['content']) }, () =>
        findImages(item['content'], (block) => readDataUrl(block['image_url'])),
      ),
    ];
  const callId = readString(item['call_id']) ?? '';
  if (type.endsWith('_output')) return [{ role: 'tool', texts: readTexts(item['output']), callId }];
  if (!type.endsWith('_call')) return [];
  return [{ role: 'assistant', texts: [], callId, toolName: readString(item['name']) ?? type }];
}

function readRole(role: unknown): ConversationItem['role'] {
  return role === 'assistant' || role === 'system' || role === 'developer' ? role : 'user';
}

function readTexts(content: unknown): readonly string[] {
  if (typeof content === 'string') return [content];
  return readJsonRecords(content).flatMap((block) => readString(block['text']) ?? []);
}

function writeEvents(reply: Reply): readonly StreamPart[] {
  const created = writeEnvelope(reply, 'in_progress');
  const end = writeEnd(reply);
  return [
    event('response.created', { response: { ...created, output: [] } }),
    ...writeOutput(reply).flatMap((item, index) => writeOutputItem(reply, item, index)),
    event(`response.${end.status}`, { response: end }),
  ];
}

function writeOutputItem(reply: Reply, item: JsonRecord, index: number): readonly StreamPart[] {
  const place = { item_id: item['id'], output_index: index };
  const { empty, deltas } = cutItem(reply, item);
  const isReasoning = item['type'] === 'reasoning';
  const within = isReasoning ? { summary_index: 0 } : { content_index: 0 };
  const part = { type: 'summary_text', text: '' };
  const parts: StreamPart[] = [
    event('response.output_item.added', {
      output_index: index,
      item: { ...item, ...empty, status: 'in_progress' },
    }),
    ...(isReasoning
      ? [event('response.reasoning_summary_part.added', { ...place, ...within, part })]
      : []),
    ...deltas.map(([name, delta]): StreamPart => {
      return { ...event(name, { ...place, ...within, delta }), delta: true };
    }),
    event('response.output_item.done', { output_index: index, item }),
  ];
  const isTool = item['type'] === 'function_call';
  return isTool ? [...parts, { kind: 'window', name: 'after_tool_block' }] : parts;
}

/** How an output item looks when it opens, and the deltas that fill it. */
function cutItem(
  reply: Reply,
  item: JsonRecord,
): { empty: object; deltas: readonly (readonly [name: string, delta: unknown])[] } {
  if (item['type'] === 'function_call') {
    const name = 'response.function_call_arguments.delta';
    return { empty: { arguments: '' }, deltas: [[name, item['arguments']]] };
  }
  if (item['type'] === 'reasoning') {
    const name = 'response.reasoning_summary_text.delta';
    return { empty: { summary: [] }, deltas: [[name, reply.thinking]] };
  }
  const name = 'response.output_text.delta';
  return { empty: { content: [] }, deltas: reply.pieces.map((piece) => [name, piece] as const) };
}

function writeOutput({ id, thinking, text, tools }: Reply): readonly JsonRecord[] {
  const output: JsonRecord[] = [];
  if (thinking !== undefined) {
    const summary = [{ type: 'summary_text', text: thinking }];
    output.push({
      type: 'reasoning',
      id: `rs_${id}`,
      summary,
      encrypted_content: `scripted-${id}`,
    });
  }
  if (text !== '') {
    const content = [{ type: 'output_text', text, annotations: [] }];
    output.push({
      type: 'message',
      id: `msg_${id}`,
      role: 'assistant',
      status: 'completed',
      content,
    });
  }
  for (const { callId, name, namespace, input } of tools) {
    const tool = namespace === undefined ? { name } : { namespace, name };
    const call = { call_id: `call_${callId}`, ...tool, arguments: JSON.stringify(input) };
    output.push({ type: 'function_call', id: `fc_${callId}`, status: 'completed', ...call });
  }
  return output;
}

function writeEnd(reply: Reply) {
  const reason = incompleteReasons.get(reply.stop ?? '');
  const { input, output, cacheRead } = reply.usage;
  return {
    ...writeEnvelope(reply, reason === undefined ? 'completed' : 'incomplete'),
    incomplete_details: reason === undefined ? null : { reason },
    output: writeOutput(reply),
    usage: {
      input_tokens: input,
      input_tokens_details: { cached_tokens: cacheRead },
      output_tokens: output,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: input + output,
    },
  };
}

function writeEnvelope({ id, model }: Reply, status: string) {
  return { id: `resp_${id}`, object: 'response', created_at: 0, model, status };
}

function number(parts: readonly StreamPart[]): readonly StreamPart[] {
  return parts.map((part, index) =>
    part.kind === 'event' && typeof part.data === 'object'
      ? { ...part, data: { ...part.data, sequence_number: index } }
      : part,
  );
}

function event(name: string, data: object) {
  return { kind: 'event', name, data: { type: name, ...data } } as const;
}

import {
  isJsonRecord,
  type JsonRecord,
  readJsonRecord,
  readJsonRecords,
  readString,
} from './json-value.js';
import type { ModelProtocolForm } from './model-protocol.js';
import {
  type ConversationItem,
  type ModelRequest,
  type ReceivedRequest,
  readSystemTexts,
  type SideReason,
} from './model-request.js';
import { findImages, readImage, withImages } from './received-image.js';
import type { Reply, ReplyError, StreamPart } from './reply.js';
import { isCompaction } from './user-messages.js';

const MESSAGES_PATH = '/v1/messages';
const COUNT_PATH = '/v1/messages/count_tokens';

/** Anthropic Messages, streamed and whole, with its token count. */
export const anthropicMessages: ModelProtocolForm = {
  protocol: 'anthropic-messages',
  isPath: (path) => path === MESSAGES_PATH || path === COUNT_PATH,
  readRequest,
  writeStream,
  writeStreamError: (_reply, type) =>
    event('error', { error: { type, message: 'Scripted error in the middle of the stream.' } }),
  writeWhole: (reply) => ({
    ...writeEnvelope(reply),
    content: writeContent(reply),
    stop_reason: readStop(reply),
    usage: writeUsage(reply),
  }),
  writeError: ({ status, type, message, detail }: ReplyError) => ({
    type: 'error',
    error: { type: type ?? errorTypes.get(status) ?? 'api_error', message, ...detail },
  }),
  writeTokenCount: ({ input }) => ({ input_tokens: input }),
};

const errorTypes: ReadonlyMap<number, string> = new Map([
  [400, 'invalid_request_error'],
  [401, 'authentication_error'],
  [403, 'permission_error'],
  [404, 'not_found_error'],
  [413, 'request_too_large'],
  [429, 'rate_limit_error'],
  [529, 'overloaded_error'],
]);

function readRequest(received: ReceivedRequest): ModelRequest {
  const body = readJsonRecord(received.bodyText);
  const messages = readJsonRecords(body['messages']).flatMap(readMessage);
  const systemTexts = readTexts(body['system']);
  const toolNames = readJsonRecords(body['tools']).flatMap(
    (tool) => readString(tool['name']) ?? [],
  );
  const nativeSessionId = readSessionId(body);
  // Without a tool a plain API client has a conversation like any other; Claude Code asks on the side.
  const isClaudeCode = nativeSessionId !== undefined || isBilledToClaudeCode(systemTexts);
  const sideReason = findSideReason({ received, systemTexts, toolNames, messages, isClaudeCode });
  return {
    ...received,
    protocol: 'anthropic-messages',
    kind: sideReason ? 'side' : 'main',
    ...(sideReason && { sideReason }),
    model: readString(body['model']) ?? '',
    stream: body['stream'] === true,
    ...(nativeSessionId !== undefined && { nativeSessionId }),
    systemText: [...systemTexts, ...readSystemTexts(messages)].join('\n'),
    messages,
    toolNames,
  };
}

interface SideEvidence {
  readonly received: ReceivedRequest;
  readonly systemTexts: readonly string[];
  readonly toolNames: readonly string[];
  readonly messages: readonly ConversationItem[];
  readonly isClaudeCode: boolean;
}

function isBilledToClaudeCode(systemTexts: readonly string[]): boolean {
  return systemTexts.some((text) => text.startsWith('x-anthropic-billing-header:'));
}

function findSideReason(evidence: SideEvidence): SideReason | undefined {
  const { received, systemTexts, toolNames, messages, isClaudeCode } = evidence;
  if (received.path === COUNT_PATH) return 'token_count';
  if (isCompaction(messages)) return 'compaction';
  if (isClaudeCode && toolNames.length === 0) return 'no_tools';
  const isSubagent = systemTexts.some((text) => text.includes('cc_is_subagent=true'));
  return isSubagent ? 'subagent' : undefined;
}

/** Claude Code puts its session id into the user id, as JSON. */
function readSessionId(body: JsonRecord): string | undefined {
  const metadata = readJsonRecord(body['metadata']);
  return readString(readJsonRecord(metadata['user_id'])['session_id']);
}

/** One message may hold tool results and texts; each result becomes an item of its own, before the texts. */
function readMessage(message: JsonRecord): readonly ConversationItem[] {
  const role = readRole(message['role']);
  const blocks = readJsonRecords(message['content']);
  const texts = readTexts(message['content']);
  const tools = blocks.flatMap(readToolBlock);
  const images = findImages(message['content'], readImageBlock);
  const own = texts.length + images.length > 0 ? [withImages({ role, texts }, () => images)] : [];
  return role === 'assistant' ? [...own, ...tools] : [...tools, ...own];
}

function readRole(role: unknown): ConversationItem['role'] {
  return role === 'assistant' || role === 'system' ? role : 'user';
}

function readToolBlock(block: JsonRecord): readonly ConversationItem[] {
  if (block['type'] === 'tool_use') {
    const toolName = readString(block['name']) ?? '';
    return [{ role: 'assistant', texts: [], callId: readString(block['id']) ?? '', toolName }];
  }
  if (block['type'] !== 'tool_result') return [];
  const callId = readString(block['tool_use_id']) ?? '';
  return [{ role: 'tool', texts: readTexts(block['content']), callId }];
}

function readImageBlock({ source }: JsonRecord) {
  const { media_type: mediaType, data } = readJsonRecord(source);
  return readImage(mediaType, data);
}

function readTexts(content: unknown): readonly string[] {
  if (typeof content === 'string') return [content];
  return readJsonRecords(content).flatMap((block) =>
    block['type'] === 'text' ? (readString(block['text']) ?? []) : [],
  );
}

function writeStream(reply: Reply): readonly StreamPart[] {
  const start = {
    ...writeEnvelope(reply),
    content: [],
    stop_reason: null,
    usage: { ...writeUsage(reply), output_tokens: 1 },
  };
  const blocks = writeContent(reply).flatMap((block, index) => writeBlock(reply, block, index));
  // As the vendor sends it. In a terminal, Claude Code keeps a call back from its record until the next message when it
  // comes to draw between the end of the call and the stop reason; a hook that waits for the record waits in vain then.
  const last = blocks.findLastIndex(({ kind }) => kind === 'event');
  return [
    event('message_start', { message: start }),
    ...blocks.slice(0, last),
    ...blocks
      .slice(last, last + 1)
      .map((part): StreamPart => (part.kind === 'event' ? { ...part, withNext: true } : part)),
    event('message_delta', {
      delta: { stop_reason: readStop(reply), stop_sequence: null },
      usage: writeUsage(reply),
    }),
    ...blocks.slice(last + 1),
    event('message_stop', {}),
  ];
}

function writeBlock(reply: Reply, block: JsonRecord, index: number): readonly StreamPart[] {
  const { empty, deltas } = cutBlock(reply, block);
  const parts: StreamPart[] = [
    event('content_block_start', { index, content_block: { ...block, ...empty } }),
    ...deltas.map((delta): StreamPart => {
      return { ...event('content_block_delta', { index, delta }), delta: true };
    }),
    event('content_block_stop', { index }),
  ];
  const isTool = block['type'] === 'tool_use';
  return isTool ? [...parts, { kind: 'window', name: 'after_tool_block' }] : parts;
}

/** How a block looks when it opens, and the deltas that fill it. */
function cutBlock(reply: Reply, block: JsonRecord): { empty: object; deltas: readonly object[] } {
  if (block['type'] === 'tool_use') {
    const partial_json = JSON.stringify(block['input']);
    return { empty: { input: {} }, deltas: [{ type: 'input_json_delta', partial_json }] };
  }
  if (block['type'] === 'thinking') {
    const { thinking, signature } = block;
    return {
      empty: { thinking: '', signature: '' },
      deltas: [
        { type: 'thinking_delta', thinking },
        { type: 'signature_delta', signature },
      ],
    };
  }
  return {
    empty: { text: '' },
    deltas: reply.pieces.map((text) => ({ type: 'text_delta', text })),
  };
}

function writeContent({ id, thinking, text, tools }: Reply): readonly JsonRecord[] {
  return [
    thinking === undefined ? {} : { type: 'thinking', thinking, signature: `signature-${id}` },
    text === '' ? {} : { type: 'text', text },
    ...tools.map(({ callId, name, input }) => {
      return { type: 'tool_use', id: `toolu_${callId}`, name, input };
    }),
  ].filter((block) => isJsonRecord(block) && 'type' in block);
}

function writeEnvelope({ id, model }: Reply): object {
  return { id: `msg_${id}`, type: 'message', role: 'assistant', model, stop_sequence: null };
}

function writeUsage({ usage }: Reply): object {
  return {
    input_tokens: usage.input,
    output_tokens: usage.output,
    cache_creation_input_tokens: usage.cacheWrite,
    cache_read_input_tokens: usage.cacheRead,
  };
}

function readStop({ stop, tools }: Reply): string {
  return stop ?? (tools.length > 0 ? 'tool_use' : 'end_turn');
}

function event(name: string, data: object) {
  return { kind: 'event', name, data: { type: name, ...data } } as const;
}

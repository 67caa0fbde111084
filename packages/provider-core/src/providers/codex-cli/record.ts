import type * as z from 'zod';
import type { RecordEvent } from '../../spec/record-event.js';
import type { ServedRecordReader } from '../../spec/served-pane.js';
import type { Usage } from '../../spec/turn.js';
import { classifyFailure } from './failure.js';
import { readErrorInfo } from './failure.wire.js';
import { orderCompactions } from './order-compactions.js';
import {
  itemCompletedSchema,
  lineSchema,
  sessionMetaSchema,
  taskCompleteSchema,
  tokenCountSchema,
  type tokensSchema,
  toolCallSchema,
  turnAbortedSchema,
  usageRecordSchema,
} from './record.wire.js';
import { readResetTime } from './reset-time.js';

/** What later lines refer to. */
interface Memory {
  /** Names of the tool calls that have no output yet, by call id. */
  readonly openCalls: Map<string, string>;
  /** What the running turn has used, by turn id. */
  readonly usage: Map<string, UsedTokens>;
  /** When the line that is being read was written. */
  recordedAt?: string | undefined;
  /** When the limits that are used up end, by the last word of the provider. */
  limitEndsAt?: string | undefined;
}

interface UsedTokens {
  readonly ofTurn: Usage;
  readonly ofSession: Usage | undefined;
}

type LineReader = (payload: unknown, memory: Memory) => readonly RecordEvent[];

/** Reads the lines of a rollout in their order. */
export function createRolloutReader(): ServedRecordReader {
  const memory: Memory = { openCalls: new Map(), usage: new Map() };
  const inOrder = orderCompactions();
  let lastOrdinal: number | undefined;
  return {
    read: (value) => {
      const line = lineSchema.safeParse(value).data;
      if (!line) return [];
      lastOrdinal = line.ordinal ?? lastOrdinal;
      const { type, payload } = line;
      memory.recordedAt = line.timestamp;
      const reader = LINE_READERS.get(payload.type ? `${type}/${payload.type}` : type);
      return inOrder(reader?.(payload, memory) ?? []);
    },
    lastRecordId: () => (lastOrdinal === undefined ? undefined : String(lastOrdinal)),
  };
}

/** Builds a reader that skips a payload which does not fit. */
function reading<Schema extends z.ZodType>(
  schema: Schema,
  read: (payload: z.output<Schema>, memory: Memory) => readonly RecordEvent[],
): LineReader {
  return (payload, memory) => {
    const parsed = schema.safeParse(payload);
    return parsed.success ? read(parsed.data, memory) : [];
  };
}

const callStarted = reading(toolCallSchema, ({ name = 'unknown', call_id: callId }, memory) => {
  memory.openCalls.set(callId, name);
  return [{ type: 'tool_started', name, callId }];
});

const callFinished = reading(toolCallSchema, ({ call_id: callId }, memory) => {
  const name = memory.openCalls.get(callId) ?? 'unknown';
  memory.openCalls.delete(callId);
  return [{ type: 'tool_finished', name, callId }];
});

const LINE_READERS: ReadonlyMap<string, LineReader> = new Map([
  ['session_meta', reading(sessionMetaSchema, ({ id }) => [openedEvent(id)])],
  ['event_msg/item_completed', reading(itemCompletedSchema, readItem)],
  ['event_msg/task_complete', reading(taskCompleteSchema, readTaskComplete)],
  ['event_msg/turn_aborted', reading(turnAbortedSchema, readTurnAborted)],
  ['token_usage_record', reading(usageRecordSchema, keepUsage)],
  ['event_msg/token_count', reading(tokenCountSchema, keepLimits)],
  ['response_item/function_call', callStarted],
  ['response_item/function_call_output', callFinished],
  ['response_item/custom_tool_call', callStarted],
  ['response_item/custom_tool_call_output', callFinished],
]);

function openedEvent(nativeSessionId: string): RecordEvent {
  return { type: 'session_opened', nativeSessionId };
}

function readItem({ turn_id, item }: z.output<typeof itemCompletedSchema>): RecordEvent[] {
  const text = (item.content ?? []).map((part) => part.text ?? '').join('');
  if (item.type === 'AgentMessage') return [{ type: 'text', text, partial: false }];
  // The record tells of a compaction only once it is over.
  if (item.type === 'ContextCompaction') {
    const { id: compactionId } = item;
    return [
      { type: 'compaction_started', compactionId },
      { type: 'compaction_finished', compactionId },
    ];
  }
  if (item.type !== 'UserMessage') return [];
  const clientMessageId = item.client_id ?? undefined;
  return [
    { type: 'message_accepted', text, clientMessageId, nativeTurnId: turn_id, origin: 'user' },
  ];
}

function readTaskComplete(
  payload: z.output<typeof taskCompleteSchema>,
  memory: Memory,
): RecordEvent[] {
  const { turn_id: nativeTurnId, last_agent_message: answer, error } = payload;
  const used = memory.usage.get(nativeTurnId);
  memory.usage.delete(nativeTurnId);
  if (error) return [readFailure(error, nativeTurnId, memory)];
  return [
    {
      type: 'turn_ended',
      answer: answer ?? '',
      usage: used?.ofTurn,
      sessionUsage: used?.ofSession,
      backgroundWork: 0,
      nativeTurnId,
    },
  ];
}

function readFailure(
  { message: detail, codex_error_info }: NonNullable<z.output<typeof taskCompleteSchema>['error']>,
  nativeTurnId: string,
  { recordedAt, limitEndsAt }: Memory,
): RecordEvent {
  const reason = classifyFailure({ message: detail, info: readErrorInfo(codex_error_info) });
  const resetAt =
    reason === 'rate_limited' ? (limitEndsAt ?? readResetTime(detail, recordedAt)) : undefined;
  return {
    type: 'turn_failed',
    reason,
    detail,
    nativeTurnId,
    ...(resetAt === undefined ? {} : { resetAt }),
  };
}

function readTurnAborted({ turn_id }: z.output<typeof turnAbortedSchema>): RecordEvent[] {
  return [{ type: 'turn_interrupted', nativeTurnId: turn_id ?? undefined }];
}

/** Codex sums turn and thread up after each request; the last sums are the turn's and the session's. */
function keepUsage(
  { turn_id, turn_token_usage, thread_token_usage }: z.output<typeof usageRecordSchema>,
  { usage }: Memory,
): RecordEvent[] {
  const ofTurn = toUsage(turn_token_usage);
  const ofSession = thread_token_usage && toUsage(thread_token_usage);
  const before = usage.get(turn_id);
  // A sum that falls is none.
  if (before && !isAtLeast(ofTurn, before.ofTurn)) return [];
  usage.set(turn_id, {
    ofTurn,
    ofSession: ofSession && isAtLeast(ofSession, ofTurn) ? ofSession : undefined,
  });
  return [];
}

function toUsage(tokens: z.output<typeof tokensSchema>): Usage {
  return {
    inputTokens: tokens.input_tokens,
    outputTokens: tokens.output_tokens,
    cacheReadTokens: tokens.cached_input_tokens,
    cacheWriteTokens: tokens.cache_write_input_tokens,
  };
}

function isAtLeast(one: Usage, other: Usage): boolean {
  return one.inputTokens >= other.inputTokens && one.outputTokens >= other.outputTokens;
}

/** The later of the limits that are used up: before it nothing works. */
function keepLimits(
  { rate_limits }: z.output<typeof tokenCountSchema>,
  memory: Memory,
): RecordEvent[] {
  const ends = [rate_limits?.primary, rate_limits?.secondary].flatMap((limit) =>
    limit?.resets_at && limit.used_percent >= 100 ? limit.resets_at : [],
  );
  const last = Math.max(...ends);
  memory.limitEndsAt = ends.length > 0 ? new Date(last * 1_000).toISOString() : undefined;
  return [];
}

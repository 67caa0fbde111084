import type * as z from 'zod';
import type { RecordEvent } from '../../spec/record-event.js';
import type { ServedRecordReader } from '../../spec/served-pane.js';
import type { Usage } from '../../spec/turn.js';
import { classifyFailure } from './failure.js';
import { readErrorInfo } from './failure.wire.js';
import {
  itemCompletedSchema,
  lineSchema,
  sessionMetaSchema,
  taskCompleteSchema,
  toolCallSchema,
  turnAbortedSchema,
  usageRecordSchema,
} from './record.wire.js';

/** What later lines refer to. */
interface Memory {
  /** Names of the tool calls that have no output yet, by call id. */
  readonly openCalls: Map<string, string>;
  /** What the running turn has used, by turn id. */
  readonly usage: Map<string, Usage>;
}

type LineReader = (payload: unknown, memory: Memory) => readonly RecordEvent[];

/** Reads the lines of a rollout in their order. */
export function createRolloutReader(): ServedRecordReader {
  const memory: Memory = { openCalls: new Map(), usage: new Map() };
  let lastOrdinal: number | undefined;
  return {
    read: (value) => {
      const line = lineSchema.safeParse(value).data;
      if (!line) return [];
      lastOrdinal = line.ordinal ?? lastOrdinal;
      const { type, payload } = line;
      const reader = LINE_READERS.get(payload.type ? `${type}/${payload.type}` : type);
      return reader?.(payload, memory) ?? [];
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
  if (item.type === 'ContextCompaction') return [{ type: 'compaction_finished' }];
  if (item.type !== 'UserMessage') return [];
  const clientMessageId = item.client_id ?? undefined;
  return [
    { type: 'message_accepted', text, clientMessageId, nativeTurnId: turn_id, origin: 'user' },
  ];
}

function readTaskComplete(
  payload: z.output<typeof taskCompleteSchema>,
  { usage }: Memory,
): RecordEvent[] {
  const { turn_id: nativeTurnId, last_agent_message: answer, error } = payload;
  const used = usage.get(nativeTurnId);
  usage.delete(nativeTurnId);
  if (error) {
    const info = readErrorInfo(error.codex_error_info);
    const reason = classifyFailure({ message: error.message, info });
    return [{ type: 'turn_failed', reason, detail: error.message, nativeTurnId }];
  }
  return [
    { type: 'turn_ended', answer: answer ?? '', usage: used, backgroundWork: 0, nativeTurnId },
  ];
}

function readTurnAborted({ turn_id }: z.output<typeof turnAbortedSchema>): RecordEvent[] {
  return [{ type: 'turn_interrupted', nativeTurnId: turn_id ?? undefined }];
}

/** Codex sums a turn up after each request; the last sum is the turn's. */
function keepUsage(
  { turn_id, turn_token_usage }: z.output<typeof usageRecordSchema>,
  { usage }: Memory,
): RecordEvent[] {
  usage.set(turn_id, {
    inputTokens: turn_token_usage.input_tokens,
    outputTokens: turn_token_usage.output_tokens,
    cacheReadTokens: turn_token_usage.cached_input_tokens,
    cacheWriteTokens: turn_token_usage.cache_write_input_tokens,
  });
  return [];
}

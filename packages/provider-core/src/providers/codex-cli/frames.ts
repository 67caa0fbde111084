import type * as z from 'zod';
import type { RecordEvent } from '../../spec/record-event.js';
import type { ServedActivity, ServedFrame } from '../../spec/served-pane.js';
import { classifyFailure } from './failure.js';
import { readErrorInfo } from './failure.wire.js';
import {
  type itemSchema,
  notificationSchema,
  type statusSchema,
  textPartsSchema,
  type turnSchema,
} from './frames.wire.js';

type Item = z.output<typeof itemSchema>;
type Turn = z.output<typeof turnSchema>;

/** Reads one notification of the app-server. Those that say nothing of a session give no event. */
export function readNotification(method: string, params: unknown): ServedFrame {
  const note = notificationSchema.safeParse(params).data;
  if (!note?.threadId) return { events: [] };
  const { item, turn } = note;
  const nativeTurnId = turn?.id ?? note.turnId ?? undefined;
  const of = { nativeSessionId: note.threadId, nativeTurnId };
  if (method === 'thread/status/changed' && note.status) {
    return { ...of, events: [], activity: readStatus(note.status) };
  }
  if (method === 'serverRequest/resolved') {
    return { ...of, events: [], settledRequest: note.requestId };
  }
  if (RESETS.has(method)) return { ...of, events: [], isReset: true };
  if (method === 'turn/started' && turn) {
    return { ...of, events: [], activity: 'busy', runningTurnId: turn.id };
  }
  if (method === 'turn/completed' && turn) {
    return { ...of, events: readTurnEnd(turn), endedTurnId: turn.id };
  }
  if (method === 'item/agentMessage/delta' && note.delta) {
    return { ...of, events: [{ type: 'text', text: note.delta, partial: true }] };
  }
  if (method === 'item/started' && item) {
    return { ...of, events: readItemStart(item), toolInput: readToolInput(item) };
  }
  if (method === 'item/completed' && item) {
    return { ...of, events: readItemEnd(item, nativeTurnId) };
  }
  return { ...of, events: [] };
}

/** A person changed the thread's settings in the pane, or somebody unloaded it. */
const RESETS: ReadonlySet<string> = new Set([
  'thread/settings/updated',
  'thread/closed',
  'thread/archived',
  'thread/deleted',
  'thread/reverted',
]);

/** Reads a thread's status. */
export function readStatus(status: z.output<typeof statusSchema>): ServedActivity {
  if (status.type === 'active') return status.activeFlags?.length ? 'waiting' : 'busy';
  if (status.type === 'idle' || status.type === 'systemError') return 'idle';
  return status.type === 'notLoaded' ? 'unloaded' : 'unknown';
}

function readTurnEnd({ id: nativeTurnId, status, items, error }: Turn): RecordEvent[] {
  if (status === 'interrupted') return [{ type: 'turn_interrupted', nativeTurnId }];
  if (error) {
    const info = readErrorInfo(error.codexErrorInfo);
    const reason = classifyFailure({ message: error.message, info });
    return [{ type: 'turn_failed', reason, detail: error.message, nativeTurnId }];
  }
  if (status !== 'completed') return [];
  const answer = items.findLast((item) => item.type === 'agentMessage')?.text ?? '';
  return [{ type: 'turn_ended', answer, backgroundWork: 0, nativeTurnId }];
}

function readItemStart(item: Item): RecordEvent[] {
  if (item.type === 'contextCompaction')
    return [{ type: 'compaction_started', compactionId: item.id }];
  const name = toolName(item);
  return name === undefined ? [] : [{ type: 'tool_started', name, callId: item.id }];
}

/** The request to approve a change of files does not say which. */
function readToolInput({ type, id, changes }: Item): ServedFrame['toolInput'] {
  return type === 'fileChange' && changes ? { callId: id, input: changes } : undefined;
}

function readItemEnd(item: Item, nativeTurnId: string | undefined): RecordEvent[] {
  if (item.type === 'contextCompaction')
    return [{ type: 'compaction_finished', compactionId: item.id }];
  if (item.type === 'agentMessage')
    return [{ type: 'text', text: item.text ?? '', partial: false }];
  if (item.type === 'userMessage') return [readUserMessage(item, nativeTurnId)];
  const name = toolName(item);
  if (name === undefined) return [];
  return [{ type: 'tool_finished', name, callId: item.id }, ...readCommandEnd(item)];
}

/** A command that was declined has no exit code. */
function readCommandEnd({ type, id: callId, command, exitCode }: Item): RecordEvent[] {
  if (type !== 'commandExecution' || command === undefined) return [];
  return typeof exitCode === 'number'
    ? [{ type: 'command_finished', callId, command, exitCode }]
    : [];
}

function readUserMessage(item: Item, nativeTurnId: string | undefined): RecordEvent {
  const parts = textPartsSchema.safeParse(item.content).data ?? [];
  const text = parts.map((part) => part.text ?? '').join('');
  const clientMessageId = item.clientId ?? undefined;
  return { type: 'message_accepted', text, clientMessageId, nativeTurnId, origin: 'user' };
}

/** The names under which the rollout has the same calls, where there is one. */
function toolName(item: Item): string | undefined {
  if (item.type === 'commandExecution') return 'exec_command';
  if (item.type === 'fileChange') return 'apply_patch';
  if (item.type === 'webSearch') return 'web_search';
  if (item.type !== 'mcpToolCall' && item.type !== 'dynamicToolCall') return undefined;
  return typeof item.tool === 'string' ? item.tool : 'tool';
}

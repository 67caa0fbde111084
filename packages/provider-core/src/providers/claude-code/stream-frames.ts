import type { RecordEvent } from '../../spec/record-event.js';
import type { StreamSign } from '../../spec/stream-process.js';
import { STRUCTURED_ANSWER_TOOL } from './answer.js';
import { readApiError } from './api-error.js';
import { readPermissionLevel } from './permission-modes.js';
import { readStreamFrame, type StreamFrame } from './stream-frames.wire.js';

/** Reads one line that the CLI wrote. What is said inside a subagent is not the turn's. */
export function readFrame(value: unknown): readonly StreamSign[] {
  const frame = readStreamFrame(value);
  if (!frame || typeof frame.parent_tool_use_id === 'string') return [];
  switch (frame.type) {
    case 'system':
      return readSystem(frame);
    case 'assistant':
      return readAssistant(frame);
    case 'stream_event':
      return readDelta(frame);
    case 'result':
      return readResult(frame);
    case 'control_response':
      return readResponse(frame);
    default:
      return [];
  }
}

function readSystem(frame: StreamFrame): readonly StreamSign[] {
  switch (frame.subtype) {
    case 'init':
      return readInit(frame);
    case 'session_state_changed':
      return readState(frame);
    case 'status':
      return readStatus(frame);
    case 'compact_boundary':
      return [{ type: 'record', event: { type: 'compaction_finished' } }];
    default:
      return readTask(frame);
  }
}

function readInit({ session_id, model, cwd, permissionMode }: StreamFrame): readonly StreamSign[] {
  if (session_id === undefined) return [];
  return [
    {
      type: 'turn_began',
      nativeSessionId: session_id,
      model,
      workingDir: cwd,
      permissions: readPermissionLevel(permissionMode ?? ''),
    },
  ];
}

function readState({ state }: StreamFrame): readonly StreamSign[] {
  switch (state) {
    case 'running':
      return [{ type: 'activity', activity: 'busy' }];
    case 'requires_action':
      return [{ type: 'activity', activity: 'waiting' }];
    case 'idle':
      return [{ type: 'activity', activity: 'idle' }];
    default:
      return [];
  }
}

function readStatus({ status, permissionMode }: StreamFrame): readonly StreamSign[] {
  return [
    ...(permissionMode === undefined
      ? []
      : [{ type: 'permissions', permissions: readPermissionLevel(permissionMode) } as const]),
    ...(status === 'compacting'
      ? [{ type: 'record', event: { type: 'compaction_started' } } as const]
      : []),
  ];
}

const LIVING_STATES: ReadonlySet<string> = new Set(['pending', 'running', 'in_progress']);

function readTask(frame: StreamFrame): readonly StreamSign[] {
  if (frame.subtype === 'background_tasks_changed') {
    return [{ type: 'tasks', taskIds: (frame.tasks ?? []).map(({ task_id }) => task_id) }];
  }
  const taskId = frame.task_id;
  if (taskId === undefined) return [];
  switch (frame.subtype) {
    case 'task_started':
      return [{ type: 'task_began', taskId }];
    case 'task_updated': {
      const status = frame.patch?.status;
      const isOver = status !== undefined && !LIVING_STATES.has(status);
      return isOver ? [{ type: 'task_ended', taskId }] : [];
    }
    case 'task_notification':
      return [{ type: 'task_ended', taskId }];
    default:
      return [];
  }
}

function readAssistant(frame: StreamFrame): readonly StreamSign[] {
  const events = blocksOf(frame).flatMap((block): readonly RecordEvent[] => {
    if (block.type === 'text' && block.text) {
      return [{ type: 'text', text: block.text, partial: false }];
    }
    if (block.type !== 'tool_use' || block.id === undefined) return [];
    if (block.name === STRUCTURED_ANSWER_TOOL) return [];
    return [{ type: 'tool_started', name: block.name ?? '', callId: block.id }];
  });
  const signs = events.map((event): StreamSign => ({ type: 'record', event }));
  return frame.uuid === undefined ? signs : [{ type: 'row', rowId: frame.uuid }, ...signs];
}

function blocksOf({ message }: StreamFrame) {
  const content = message?.content;
  return content === undefined || typeof content === 'string' ? [] : content;
}

function readDelta({ event }: StreamFrame): readonly StreamSign[] {
  const text = event?.delta?.type === 'text_delta' ? event.delta.text : undefined;
  return text ? [{ type: 'record', event: { type: 'text', text, partial: true } }] : [];
}

function readResult(frame: StreamFrame): readonly StreamSign[] {
  // The end of a turn that nobody asked for is told by the record alone.
  const isAskedFor = (frame.origin?.kind ?? 'human') === 'human';
  const event = isAskedFor ? readEnd(frame) : undefined;
  const over: StreamSign = {
    type: 'turn_over',
    costUsdSoFar: frame.total_cost_usd,
    isSilent: isAskedFor && event === undefined,
  };
  return event ? [over, { type: 'record', event }] : [over];
}

/** A failure says `success` too: only `is_error` tells. */
function readEnd(frame: StreamFrame): RecordEvent | undefined {
  const text = frame.result ?? '';
  if (frame.terminal_reason?.startsWith('aborted')) return { type: 'turn_interrupted' };
  if (frame.is_error) {
    const status = frame.api_error_status ?? undefined;
    return { type: 'turn_failed', ...readApiError({ error: 'unknown', text, status }) };
  }
  if (text === '') return undefined;
  return {
    type: 'turn_ended',
    answer: text,
    stopReason: frame.stop_reason ?? undefined,
    backgroundWork: 0,
  };
}

function readResponse({ response }: StreamFrame): readonly StreamSign[] {
  if (!response) return [];
  const isDone = response.subtype === 'success' && response.response?.cancelled !== false;
  const cost = /\bcost:\s+\$([\d,.]+)/.exec(response.response?.text ?? '')?.[1];
  const costUsd = cost === undefined ? undefined : Number(cost.replaceAll(',', ''));
  return [
    {
      type: 'answer',
      requestId: response.request_id,
      isDone,
      ...(costUsd === undefined ? {} : { costUsd }),
    },
  ];
}

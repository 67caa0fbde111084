import type { RecordEvent } from '../../spec/record-event.js';
import type { GateVerdict, PaneSignal } from '../../spec/typed-pane.js';
import { readApiError } from './api-error.js';
import { isTaskNotification } from './row-text.js';
import { readSpoolRow, type SpoolRow } from './signals.wire.js';

/** Reads one line of the spool. What a hook says is fast, and comes again from the transcript. */
export function readSignal(value: unknown): PaneSignal | undefined {
  const row = readSpoolRow(value);
  if (!row) return undefined;
  if (row.hook === 'gate') {
    const verdict = readVerdict(row);
    return verdict ? { type: 'gate', verdict } : undefined;
  }
  if (row.hook === 'SessionStart') return readSessionStart(row);
  const event = readEvent(row);
  return event ? { type: 'record', event } : undefined;
}

function readVerdict({
  verdict,
  token = '',
  mode = '',
  payload,
}: SpoolRow): GateVerdict | undefined {
  switch (verdict) {
    case 'passed':
    case 'mixed':
      return { kind: verdict, token };
    case 'looser_permissions':
      return { kind: verdict, token, mode };
    case 'other':
      return readOther(payload);
    default:
      return undefined;
  }
}

function readOther({ prompt = '', prompt_id }: SpoolRow['payload'] = {}): GateVerdict {
  return {
    kind: 'other',
    text: prompt,
    nativeTurnId: prompt_id,
    isBackground: isTaskNotification(prompt),
  };
}

function readSessionStart({ payload }: SpoolRow): PaneSignal | undefined {
  if (payload?.session_id === undefined) return undefined;
  return {
    type: 'session_started',
    nativeSessionId: payload.session_id,
    model: payload.model,
    workingDir: payload.cwd,
  };
}

function readEvent({ hook, payload }: SpoolRow): RecordEvent | undefined {
  switch (hook) {
    case 'Stop':
      return {
        type: 'turn_ended',
        answer: payload?.last_assistant_message ?? '',
        backgroundWork: payload?.background_tasks?.length ?? 0,
        nativeTurnId: payload?.prompt_id,
      };
    case 'StopFailure': {
      const failure = readApiError({
        error: payload?.error ?? 'unknown',
        text: payload?.last_assistant_message ?? '',
        details: payload?.error_details,
        status: readStatus(payload?.last_assistant_message),
      });
      return { type: 'turn_failed', ...failure, nativeTurnId: payload?.prompt_id };
    }
    case 'PreCompact':
      return { type: 'compaction_started' };
    case 'PostCompact':
      return { type: 'compaction_finished' };
    case 'PermissionRequest':
      return { type: 'waiting', on: 'permission', detail: payload?.tool_name };
    case 'Notification':
      return payload?.notification_type === 'permission_prompt'
        ? { type: 'waiting', on: 'permission', detail: payload.message }
        : undefined;
    default:
      return undefined;
  }
}

/** The hook has no field for the status; its text has it in one of two forms. */
function readStatus(text = ''): number | undefined {
  const status = /API Error: (?:Request rejected \()?(\d{3})\b/.exec(text)?.[1];
  return status === undefined ? undefined : Number(status);
}

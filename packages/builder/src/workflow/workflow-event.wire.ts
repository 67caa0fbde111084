import {
  decodeAgentTurnEvent,
  encodeAgentTurnEvent,
  StateUnusableError,
  snakeCaseCodec,
} from '@holdfast/agent';
import * as z from 'zod';
import type { JsonValue } from '../persistence/store.js';
import { PHASES } from './phases.js';
import type { WorkflowEvent } from './workflow-event.js';

/** Version of a log's lines; on users' disks. */
const EVENT_SCHEMA_VERSION = 1;

const stamp = {
  schema_version: z.number().int(),
  execution_id: z.string().min(1),
  owner_kind: z.string().min(1),
  correlation_id: z.string().min(1),
  sequence: z.number().int(),
  at: z.string(),
};

const phase = z.enum(PHASES);
const error = z.looseObject({ family: z.string(), kind: z.string(), message: z.string() });

const suspensionCodec = snakeCaseCodec({
  reason: z.enum(['rate_limited', 'auth_required', 'session_busy', 'cli_unusable']),
  until: z.string().optional(),
  detail: z.string().optional(),
});

const codecs = {
  execution_opened: snakeCaseCodec({ ...stamp }),
  phase_started: snakeCaseCodec({ ...stamp, phase, attempt: z.number().int() }),
  phase_completed: snakeCaseCodec({ ...stamp, phase }),
  phase_failed: snakeCaseCodec({ ...stamp, phase, error }),
  phase_retry_scheduled: snakeCaseCodec({
    ...stamp,
    phase,
    attempt: z.number().int(),
    not_before: z.string(),
    error,
  }),
  phase_suspended: snakeCaseCodec({ ...stamp, phase, suspension: z.unknown() }),
  recovery_queued: snakeCaseCodec({ ...stamp, phase }),
  pre_validation_passed: snakeCaseCodec({ ...stamp }),
  pre_validation_failed: snakeCaseCodec({
    ...stamp,
    feedback: z.string().optional(),
    will_retry: z.boolean(),
  }),
  waiting_for_learning_lock: snakeCaseCodec({
    ...stamp,
    phase,
    holder: z.string().optional(),
    position: z.number().int(),
  }),
  learning_continuation_resumed: snakeCaseCodec({ ...stamp, phase }),
  learning_completed: snakeCaseCodec({ ...stamp, phase }),
  kb_review_completed: snakeCaseCodec({ ...stamp, phase }),
  auto_notification_sent: snakeCaseCodec({
    ...stamp,
    notification_id: z.string(),
    target: z.enum(['session', 'handler', 'none']),
  }),
  sub_agent_started: snakeCaseCodec({ ...stamp, child_execution_id: z.string() }),
  provider_event: snakeCaseCodec({ ...stamp, phase, turn_id: z.string(), event: z.unknown() }),
  execution_ended: snakeCaseCodec({
    ...stamp,
    outcome: z.enum(['completed', 'failed', 'stopped']),
    error: error.optional(),
  }),
} as const;

/** One line as it is written. */
export function encodeWorkflowEvent(event: WorkflowEvent): JsonValue {
  const wire = { ...event, ...encodeNested(event), schemaVersion: EVENT_SCHEMA_VERSION };
  return z.encode(codecs[event.type] as z.ZodType, wire) as JsonValue;
}

function encodeNested(event: WorkflowEvent): Readonly<Record<string, unknown>> {
  switch (event.type) {
    case 'provider_event':
      return { event: encodeAgentTurnEvent(event.event) };
    case 'phase_suspended':
      return { suspension: z.encode(suspensionCodec, event.suspension) };
    default:
      return {};
  }
}

/** Reads one line; a newer or damaged one is a `StateUnusableError`, and the log stays as it is. */
export function decodeWorkflowEvent(value: unknown, place: string): WorkflowEvent {
  const version = readField(value, 'schema_version');
  if (typeof version === 'number' && version > EVENT_SCHEMA_VERSION) {
    throw new StateUnusableError(place, 'newer_format', 'it was written by a newer version.');
  }
  const type = String(readField(value, 'type'));
  const codec = Object.hasOwn(codecs, type) ? codecs[type as keyof typeof codecs] : undefined;
  const parsed = (codec as z.ZodType | undefined)?.safeDecode(value);
  if (!parsed?.success) {
    throw new StateUnusableError(place, 'damaged', `a line of type ${type} cannot be read.`);
  }
  const event = parsed.data as WorkflowEvent & { readonly schemaVersion?: number };
  const { schemaVersion: _schemaVersion, ...rest } = event;
  return { ...rest, ...decodeNested(rest as WorkflowEvent, place) } as WorkflowEvent;
}

/** Nested objects are still in the wire's spelling here; a blank text counts as absent in JSON. */
function decodeNested(event: WorkflowEvent, place: string): Readonly<Record<string, unknown>> {
  switch (event.type) {
    case 'provider_event': {
      const nested = decodeAgentTurnEvent(event.event);
      if (nested) return { event: nested };
      throw new StateUnusableError(place, 'damaged', 'a wrapped event cannot be read.');
    }
    case 'phase_suspended': {
      const suspension = z.decode(suspensionCodec, event.suspension as never);
      return { suspension: { ...suspension, detail: suspension.detail ?? '' } };
    }
    case 'pre_validation_failed':
      return { feedback: event.feedback ?? '' };
    default:
      return {};
  }
}

function readField(value: unknown, key: string): unknown {
  return typeof value === 'object' && value !== null
    ? (value as Readonly<Record<string, unknown>>)[key]
    : undefined;
}

import {
  type AgentSessionHandle,
  agentSessionHandleFromLegacyRuntime,
  type ErrorJson,
  encodeAgentSessionHandle,
  isContinuationError,
  snakeCaseCodec,
} from '@holdfast/agent';
import * as z from 'zod';
import type { JsonValue } from '../persistence/store.js';
import { clipError } from './clip-error.js';
import type { PhaseRecord, PhaseTurn, Suspension } from './continuation-state.js';

/** A JSON object as it stands on disk. */
export type WireObject = Readonly<Record<string, unknown>>;

const leaseCodec = snakeCaseCodec({
  pid: z.number(),
  host_id: z.string(),
  since: z.string(),
  token: z.number(),
});

const suspensionCodec = snakeCaseCodec({
  reason: z.enum(['rate_limited', 'auth_required', 'session_busy', 'cli_unusable']),
  until: z.string().optional(),
  detail: z.string().optional(),
});

const turnCodec = snakeCaseCodec({
  turn_id: z.string().min(1),
  message: z.string().optional(),
  kind: z.enum(['prompt', 'sequence_item', 'validation_feedback', 'review', 'notification']),
  state: z.enum(['open', 'completed']),
  answer: z.string().optional(),
});

const PHASE_SHAPE = {
  status: z.enum([
    'pending',
    'running',
    'waiting_for_lock',
    'recovery_queued',
    'completed',
    'failed',
    'skipped',
  ]),
  error: z.string().optional(),
  agent_session_handle: z.unknown().optional(),
  updated_at: z.string().optional(),
  attempt: z.number().int().min(0).optional(),
  turn_id: z.string().optional(),
  turns: z.array(z.unknown()).readonly().optional(),
  started_at: z.string().optional(),
  completed_at: z.string().optional(),
  not_before: z.string().optional(),
  suspended: z.unknown().optional(),
  error_json: z.record(z.string(), z.unknown()).optional(),
  lease: z.unknown().optional(),
};

const phaseCodec = snakeCaseCodec(PHASE_SHAPE);

/** One phase as it stands in the file. */
export function encodePhaseRecord(record: PhaseRecord): WireObject {
  const { handle, turns, suspended, lease, error, unknownKeys, ...plain } = record;
  const wire: WireObject = z.encode(phaseCodec, {
    ...plain,
    error: error === undefined ? undefined : clipError(error),
    agentSessionHandle: handle && encodeAgentSessionHandle(handle),
    turns: turns.length === 0 ? undefined : turns.map(encodeTurn),
    suspended: suspended && z.encode(suspensionCodec, suspended),
    lease: lease && z.encode(leaseCodec, lease),
  } as z.output<typeof phaseCodec>);
  return withUnknownKeys(wire, unknownKeys);
}

/** Reads one phase; what is none is a zod error. `fallbackAt` stands in where a writer left the time out. */
export function decodePhaseRecord(value: unknown, fallbackAt: string): PhaseRecord {
  const wire = readRecord(value);
  const { agentSessionHandle, turns, suspended, lease, errorJson, ...plain } = z.decode(
    phaseCodec,
    pickKeys(wire, PHASE_SHAPE) as z.input<typeof phaseCodec>,
  );
  const handle = decodeHandle(agentSessionHandle);
  const unreadable = handle ? {} : pickKeys(wire, { agent_session_handle: true });
  return {
    ...plain,
    updatedAt: plain.updatedAt ?? fallbackAt,
    attempt: plain.attempt ?? 0,
    turns: (turns ?? []).map(decodeTurn),
    ...(handle && { handle }),
    ...(suspended !== undefined && { suspended: decodeSuspension(suspended) }),
    ...(lease !== undefined && { lease: z.decode(leaseCodec, lease as never) }),
    ...(errorJson && { errorJson: errorJson as ErrorJson }),
    ...restOf(wire, PHASE_SHAPE, unreadable),
  } as PhaseRecord;
}

/**
 * A handle in whichever spelling; `undefined` for none and for one that finds no session. Such a one stays among the
 * unknown keys, so that nothing of the file is lost.
 */
export function decodeHandle(value: unknown): AgentSessionHandle | undefined {
  if (value === undefined || value === null || value === '') return undefined;
  const text = JSON.stringify(value);
  // The phases of one execution mostly continue one session.
  if (lastDecoded?.text !== text) lastDecoded = { text, handle: decodeAnyHandle(value) };
  return lastDecoded.handle;
}

let lastDecoded: DecodedHandle | undefined;

interface DecodedHandle {
  readonly text: string;
  readonly handle: AgentSessionHandle | undefined;
}

function decodeAnyHandle(value: unknown): AgentSessionHandle | undefined {
  try {
    return agentSessionHandleFromLegacyRuntime({ agent_session_handle: value });
  } catch (error) {
    if (isContinuationError(error)) return undefined;
    throw error;
  }
}

/** The keys of a wire object that a codec declares; `null` counts as absent. */
export function pickKeys(wire: WireObject, shape: object): WireObject {
  const declared = Object.entries(wire).filter(([key, field]) => key in shape && field !== null);
  return Object.fromEntries(declared);
}

/** Our own keys first and in our order; one that became readable meanwhile replaces what was kept. */
export function withUnknownKeys(wire: WireObject, unknownKeys: WireObject = {}): WireObject {
  return { ...wire, ...unknownKeys, ...wire };
}

/** What no codec declares, and what could not be read, as it stood. */
export function restOf(
  wire: WireObject,
  shape: object,
  unreadable: WireObject = {},
): { readonly unknownKeys?: Readonly<Record<string, JsonValue>> } {
  const undeclared = Object.entries(wire).filter(([key]) => !(key in shape));
  const rest = { ...Object.fromEntries(undeclared), ...unreadable };
  return Object.keys(rest).length === 0
    ? {}
    : { unknownKeys: rest as Readonly<Record<string, JsonValue>> };
}

/** A JSON object, or a zod error. */
export function readRecord(value: unknown): WireObject {
  return recordSchema.parse(value);
}

/** Made once: to make one takes longer than to read by it. */
const recordSchema = z.record(z.string(), z.unknown());

/** A blank text is one like any other where it stands by itself; the codec would take it for absent. */
function withTexts<Value extends object>(
  value: Value,
  from: object,
  names: readonly string[],
): Value {
  const texts = Object.entries(from).filter(
    ([name, text]) => names.includes(name) && typeof text === 'string',
  );
  return { ...value, ...Object.fromEntries(texts) };
}

const TURN_TEXTS = ['message', 'answer'];

function encodeTurn(turn: PhaseTurn): WireObject {
  return withTexts<WireObject>(z.encode(turnCodec, turn), turn, TURN_TEXTS);
}

function decodeTurn(value: unknown): PhaseTurn {
  const turn = z.decode(turnCodec, value as z.input<typeof turnCodec>);
  const whole = withTexts(turn, readRecord(value), TURN_TEXTS);
  return { ...whole, message: whole.message ?? '' };
}

function decodeSuspension(value: unknown): Suspension {
  const suspension = z.decode(suspensionCodec, value as z.input<typeof suspensionCodec>);
  return { ...suspension, detail: suspension.detail ?? '' };
}

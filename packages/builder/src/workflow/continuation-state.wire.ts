import { encodeAgentSessionHandle, snakeCaseCodec } from '@holdfast/agent';
import * as z from 'zod';
import { type ExecutionKey, executionIdOf } from '../executions/execution-key.js';
import type { JsonValue } from '../persistence/store.js';
import {
  CONTINUATION_STATE_SCHEMA,
  type ContinuationState,
  type ExecutionOutcome,
  type PhaseRecord,
} from './continuation-state.js';
import { findEarliest, findLatest } from './instant-order.js';
import {
  decodeHandle,
  decodePhaseRecord,
  encodePhaseRecord,
  pickKeys,
  readRecord,
  restOf,
  type WireObject,
  withUnknownKeys,
} from './phase-record.wire.js';
import { isSettled, PHASES, type Phase } from './phases.js';

/** What a file without any time is dated: before everything that has one. */
const UNDATED = '1970-01-01T00:00:00Z';

const ownerCodec = z.union([
  snakeCaseCodec({ kind: z.literal('chat'), chat_id: z.string() }),
  snakeCaseCodec({ kind: z.literal('execution'), execution_id: z.string() }),
]);

const terminalCodec = snakeCaseCodec({
  terminal_id: z.string(),
  label: z.string().optional(),
  state: z.enum(['current', 'previous']),
  opened_at: z.string(),
  archived_at: z.string().optional(),
});

/** The keys of schema 1 in the order of their table, then what schema 2 adds. */
const STATE_SHAPE = {
  schema_version: z.number().int().optional(),
  workspace_path: z.string().optional(),
  run_folder: z.string().optional(),
  step_id: z.string().optional(),
  step_path: z.string().optional(),
  owner_kind: z.string().optional(),
  agent_session_handle: z.unknown().optional(),
  phases: z.record(z.string(), z.unknown()).optional(),
  updated_at: z.string().optional(),
  execution_id: z.string().optional(),
  workflow_id: z.string().optional(),
  agent: z.string().optional(),
  correlation_id: z.string().optional(),
  created_at: z.string().optional(),
  outcome: z.enum(['open', 'completed', 'failed', 'stopped']).optional(),
  answer: z.string().optional(),
  owner: ownerCodec.optional(),
  notify: ownerCodec.optional(),
  input: z.unknown().optional(),
  terminals: z.array(terminalCodec).readonly().optional(),
};

const stateCodec = snakeCaseCodec(STATE_SHAPE);

/** The state as it stands on disk: always of the schema this version writes. */
export function encodeContinuationState(state: ContinuationState): JsonValue {
  const { handle, phases, unknownPhases, unknownKeys, answer, input, ...plain } = state;
  const wire: WireObject = z.encode(stateCodec, {
    ...plain,
    schemaVersion: CONTINUATION_STATE_SCHEMA,
    agentSessionHandle: handle && encodeAgentSessionHandle(handle),
    phases: { ...encodePhases(phases), ...unknownPhases },
    terminals: state.terminals.length === 0 ? undefined : state.terminals,
  } as z.output<typeof stateCodec>);
  const texts = {
    // A blank answer and a null input are values; the codec would take them for absent.
    ...(answer === undefined ? {} : { answer }),
    ...(input === undefined ? {} : { input }),
  };
  return withUnknownKeys(inTableOrder({ ...wire, ...texts }), unknownKeys) as JsonValue;
}

/** A state, or why its file is none this version can read. */
export type DecodedState =
  | { readonly state: ContinuationState; readonly unusable?: undefined }
  | { readonly state?: undefined; readonly unusable: 'damaged' | 'newer_schema' };

/** Reads a state of schema 1 or 2. What a schema 1 writer left out comes from the place of the file. */
export function decodeContinuationState(value: unknown, key: ExecutionKey): DecodedState {
  if (isNewer(value)) return { unusable: 'newer_schema' };
  try {
    return { state: decodeState(readRecord(value), key) };
  } catch (error) {
    if (error instanceof z.core.$ZodError) return { unusable: 'damaged' };
    throw error;
  }
}

function isNewer(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || !('schema_version' in value)) return false;
  const version = value.schema_version;
  return typeof version === 'number' && version > CONTINUATION_STATE_SCHEMA;
}

function decodeState(wire: WireObject, key: ExecutionKey): ContinuationState {
  const model = z.decode(stateCodec, pickKeys(wire, STATE_SHAPE) as z.input<typeof stateCodec>);
  const { agentSessionHandle, phases: wirePhases = {}, ...plain } = model;
  const phases = decodePhases(wirePhases, plain.updatedAt);
  const times = recordsOf(phases).map(({ updatedAt }) => updatedAt);
  const updatedAt = plain.updatedAt ?? findLatest(times) ?? UNDATED;
  const handle = decodeHandle(agentSessionHandle);
  const unreadable = handle ? {} : pickKeys(wire, { agent_session_handle: true });
  const unknownPhases = restOf(wirePhases, PHASE_NAMES).unknownKeys;
  const { answer, input } = wire;
  return {
    ...plain,
    schemaVersion: plain.schemaVersion ?? 1,
    runFolder: plain.runFolder ?? `${key.iteration}/${key.group}`,
    stepId: plain.stepId ?? key.step,
    ownerKind: plain.ownerKind ?? 'workflow_step',
    phases,
    updatedAt,
    executionId: executionIdOf(key),
    createdAt: plain.createdAt ?? findEarliest([updatedAt, ...times]) ?? updatedAt,
    outcome: plain.outcome ?? deriveOutcome(phases),
    terminals: (plain.terminals ?? []).map((one) => ({ ...one, label: one.label ?? '' })),
    ...(handle && { handle }),
    ...(answer !== undefined && { answer }),
    ...(input !== undefined && { input }),
    ...(unknownPhases && { unknownPhases }),
    ...restOf(wire, STATE_SHAPE, unreadable),
  } as ContinuationState;
}

const PHASE_NAMES: Readonly<Record<string, true>> = Object.fromEntries(
  PHASES.map((phase) => [phase, true]),
);

function encodePhases(phases: ContinuationState['phases']): WireObject {
  const present = PHASES.flatMap((phase) => {
    const record = phases[phase];
    return record ? [[phase, encodePhaseRecord(record)] as const] : [];
  });
  return Object.fromEntries(present);
}

function decodePhases(
  wire: WireObject,
  fallbackAt: string | undefined,
): ContinuationState['phases'] {
  const present = PHASES.filter((phase) => wire[phase] !== undefined);
  return Object.fromEntries(
    present.map((phase) => [phase, decodePhaseRecord(wire[phase], fallbackAt ?? UNDATED)]),
  );
}

function recordsOf(phases: ContinuationState['phases']): readonly PhaseRecord[] {
  return PHASES.flatMap((phase) => phases[phase] ?? []);
}

/** Schema 1 says of no execution how it ended; a step whose main work or validation failed ended there. */
function deriveOutcome(phases: ContinuationState['phases']): ExecutionOutcome {
  const statusOf = (phase: Phase) => phases[phase]?.status;
  if (statusOf('main_execution') === 'failed') return 'failed';
  if (statusOf('pre_validation') === 'failed') return 'failed';
  const records = recordsOf(phases);
  const isEnded = records.length > 0 && records.every(({ status }) => isSettled(status));
  return isEnded ? 'completed' : 'open';
}

function inTableOrder(wire: WireObject): WireObject {
  const order = Object.keys(STATE_SHAPE);
  return Object.fromEntries(
    Object.entries(wire).toSorted(([a], [b]) => order.indexOf(a) - order.indexOf(b)),
  );
}

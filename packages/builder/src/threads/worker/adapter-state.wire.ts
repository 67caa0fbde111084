import {
  type AgentSessionHandle,
  decodeAgentSessionHandle,
  encodeAgentSessionHandle,
} from '@holdfast/agent';
import * as z from 'zod';
import type { JsonValue } from '../../persistence/store.js';

/** What is kept beside a thread to go on with its conversation. */
export interface AdapterState {
  readonly handle: AgentSessionHandle;
  /** The model that was named at the thread's first turn; absent where none was. */
  readonly model?: string | undefined;
}

const adapterState = z.looseObject({
  schemaVersion: z.literal(1),
  handle: z.record(z.string(), z.unknown()),
  model: z.string().optional(),
});

/** The state as it is kept. */
export function encodeAdapterState({ handle, model }: AdapterState): JsonValue {
  const state = { schemaVersion: 1, handle: encodeAgentSessionHandle(handle), model };
  return JSON.parse(JSON.stringify(state)) as JsonValue;
}

/** Reads what is kept; `undefined` for anything else. */
export function findAdapterState(value: unknown): AdapterState | undefined {
  const parsed = adapterState.safeParse(value);
  if (!parsed.success) return undefined;
  const { handle, model } = parsed.data;
  return { handle: decodeAgentSessionHandle(handle), model };
}

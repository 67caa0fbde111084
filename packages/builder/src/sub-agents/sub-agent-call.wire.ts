import { snakeCaseCodec } from '@holdfast/agent';
import * as z from 'zod';
import type { JsonValue } from '../persistence/store.js';
import type { SubAgentCallRecord } from './sub-agent-call.js';

const recordCodec = snakeCaseCodec({
  called_by: z.union([
    snakeCaseCodec({ kind: z.literal('chat'), chat_id: z.string().min(1) }),
    snakeCaseCodec({ kind: z.literal('execution'), execution_id: z.string().min(1) }),
  ]),
  call_digest: z.string().min(1),
  key: z.string().optional(),
});

/** The record as it stands in the execution's input. */
export function encodeCallRecord(record: SubAgentCallRecord): JsonValue {
  return z.encode(recordCodec, record) as JsonValue;
}

/** The call that began an execution, from its input; `undefined` where no session called it. */
export function findCallRecord(input: unknown): SubAgentCallRecord | undefined {
  return recordCodec.safeDecode(input as z.input<typeof recordCodec>).data;
}

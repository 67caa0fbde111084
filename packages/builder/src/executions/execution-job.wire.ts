import { snakeCaseCodec } from '@holdfast/agent';
import * as z from 'zod';
import type { JsonValue } from '../persistence/store.js';
import { OWNER_KINDS } from './execution-key.js';
import type { StartExecution } from './executions.js';

const owner = z.union([
  snakeCaseCodec({ kind: z.literal('chat'), chat_id: z.string() }),
  snakeCaseCodec({ kind: z.literal('execution'), execution_id: z.string() }),
]);

const requestCodec = snakeCaseCodec({
  owner_kind: z.enum(OWNER_KINDS),
  agent: z.string().optional(),
  prompt: z.string().optional(),
  workflow_id: z.string().optional(),
  owner: owner.optional(),
  notify: owner.optional(),
  correlation_id: z.string().optional(),
});

const jobCodec = snakeCaseCodec({
  execution_id: z.string().min(1),
  request: z.unknown().optional(),
  input: z.unknown().optional(),
});

/** What the job of an execution says: its id and, until its state is on disk, what it is begun with. */
export interface ExecutionJob {
  readonly executionId: string;
  readonly request?: Omit<StartExecution, 'key'> | undefined;
}

/** The payload as it stands in a job. */
export function encodeExecutionJob({ executionId, request }: ExecutionJob): JsonValue {
  if (!request) return { execution_id: executionId };
  const { input, prompt, ...plain } = request;
  const encoded = z.encode(requestCodec, plain as z.output<typeof requestCodec>);
  return {
    execution_id: executionId,
    // A blank prompt and a null input are values; the codec would take them for absent.
    request: { ...encoded, ...(prompt === undefined ? {} : { prompt }) } as JsonValue,
    ...(input === undefined ? {} : { input }),
  };
}

/** Reads a payload; what is none is a zod error. */
export function decodeExecutionJob(payload: unknown): ExecutionJob {
  const { executionId } = z.decode(jobCodec, payload as z.input<typeof jobCodec>);
  const { request, input } = payload as { readonly request?: unknown; readonly input?: JsonValue };
  if (request === undefined) return { executionId };
  const decoded = z.decode(requestCodec, request as z.input<typeof requestCodec>);
  const { prompt } = request as { readonly prompt?: string };
  return {
    executionId,
    request: {
      ...decoded,
      ...(prompt === undefined ? {} : { prompt }),
      ...(input === undefined ? {} : { input }),
    } as Omit<StartExecution, 'key'>,
  };
}

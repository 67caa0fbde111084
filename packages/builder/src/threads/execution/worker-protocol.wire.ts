import * as z from 'zod';
import type { JsonValue } from '../../persistence/store.js';
import type { CodingOutcome, CodingPatch, Sha256 } from '../coding-job.js';
import { WORKER_PROTOCOL_VERSION } from '../contract/capabilities.wire.js';
import { safeId, sha256, uuid } from '../contract/field-rules.wire.js';
import type { CodingStep, CodingWorkerSpec, WorkerError } from '../worker/worker-spec.js';
import { codingOutcome, codingStep, workerSpec } from './worker-parts.wire.js';
import { WorkerProtocolError } from './worker-protocol-error.js';

/** Which try of which job a worker is. Every event echoes all of it but the nonce. */
export interface WorkerIdentity {
  readonly executionId: string;
  readonly leaseId: string;
  readonly fencingToken: number;
  /** Known to the runner that started the worker and to the worker: nobody else can speak to it. */
  readonly transportNonce: string;
}

/** What a runner tells its worker. */
export type WorkerCommand =
  | {
      readonly type: 'hello';
      readonly identity: WorkerIdentity;
      readonly expectedCapabilityDigest: Sha256;
    }
  | {
      readonly type: 'start';
      readonly input: CodingWorkerSpec;
      readonly specDigest: Sha256;
      /** Milliseconds that are left, so that optional work can be left out. */
      readonly deadlineMs: number;
    }
  /** The deadline was put off. */
  | { readonly type: 'renew'; readonly deadlineMs: number }
  | { readonly type: 'cancel'; readonly reason: string };

/** How a worker ended, in the classes of the protocol. */
export type TerminalClass =
  | 'success'
  | 'recoverable_failure'
  | 'terminal_failure'
  | 'cancelled'
  | 'unknown';

/** What a worker tells. */
export type WorkerPayload =
  | { readonly type: 'ready'; readonly capabilities: JsonValue }
  | { readonly type: 'progress'; readonly message: CodingStep | 'alive' }
  | { readonly type: 'usage'; readonly usage: JsonValue }
  | { readonly type: 'coding-patch'; readonly patch: CodingPatch }
  | {
      readonly type: 'terminal';
      readonly class: TerminalClass;
      /** Without its patch, which came before in a frame of its own. */
      readonly output?: Omit<CodingOutcome, 'patch'> | undefined;
      readonly error?: WorkerError | undefined;
      readonly reason?: string | undefined;
    };

/** One event of a worker. */
export interface WorkerEvent {
  readonly protocolVersion: typeof WORKER_PROTOCOL_VERSION;
  readonly eventId: string;
  readonly executionId: string;
  readonly leaseId: string;
  readonly fencingToken: number;
  /** 1 for the first, then always one more. */
  readonly sequence: number;
  readonly occurredAt: string;
  readonly payload: WorkerPayload;
}

const reason = z.string().min(1).max(1000);
const fencingToken = z.number().int().min(0).max(Number.MAX_SAFE_INTEGER);

const remainingMs = z.number().int().min(0);

const identity = z.strictObject({
  executionId: safeId,
  leaseId: safeId,
  fencingToken,
  transportNonce: z.string().min(32).max(256),
});

const command = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('hello'), identity, expected_capability_digest: sha256 }),
  z.strictObject({
    type: z.literal('start'),
    input: workerSpec,
    spec_digest: sha256,
    deadline_ms: remainingMs,
  }),
  z.strictObject({ type: z.literal('renew'), deadline_ms: remainingMs }),
  z.strictObject({ type: z.literal('cancel'), reason }),
]);

const workerError = z.strictObject({
  kind: z.string().min(1).max(100),
  family: z.enum(['coding_thread', 'agent', 'defect']),
  message: z.string(),
  retry: z.enum(['same', 'inspect', 'replace', 'never']),
  json: z.json(),
});

const payload = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('ready'), capabilities: z.json() }),
  z.strictObject({
    type: z.literal('progress'),
    message: z.union([codingStep, z.literal('alive')]),
  }),
  z.strictObject({ type: z.literal('usage'), usage: z.json() }),
  z.strictObject({
    type: z.literal('coding-patch'),
    base_revision: z.string(),
    patch: z.string(),
    patch_digest: sha256,
    changed_paths: z.array(z.string()),
  }),
  z.strictObject({
    type: z.literal('terminal'),
    class: z.enum(['success', 'recoverable_failure', 'terminal_failure', 'cancelled', 'unknown']),
    output: codingOutcome.nullable(),
    error: workerError.nullable(),
    reason: reason.nullable(),
  }),
]);

const event = z.strictObject({
  protocolVersion: z.literal(WORKER_PROTOCOL_VERSION),
  eventId: uuid,
  executionId: safeId,
  leaseId: safeId,
  fencingToken,
  sequence: z.number().int().min(1),
  occurredAt: z.iso.datetime(),
  payload,
});

/** The command as it stands in a frame. */
export function encodeCommand(value: WorkerCommand): object {
  switch (value.type) {
    case 'hello':
      return {
        type: value.type,
        identity: value.identity,
        expected_capability_digest: value.expectedCapabilityDigest,
      };
    case 'start':
      return {
        type: value.type,
        input: value.input,
        spec_digest: value.specDigest,
        deadline_ms: value.deadlineMs,
      };
    case 'renew':
      return { type: value.type, deadline_ms: value.deadlineMs };
    case 'cancel':
      return { type: value.type, reason: value.reason };
  }
}

/** Reads a command; anything that the protocol does not name is refused. */
export function decodeCommand(frame: string): WorkerCommand {
  const read = readFrame(command, frame);
  switch (read.type) {
    case 'hello':
      return {
        type: 'hello',
        identity: read.identity,
        expectedCapabilityDigest: read.expected_capability_digest as Sha256,
      };
    case 'start':
      return {
        type: 'start',
        input: read.input as unknown as CodingWorkerSpec,
        specDigest: read.spec_digest as Sha256,
        deadlineMs: read.deadline_ms,
      };
    case 'renew':
      return { type: 'renew', deadlineMs: read.deadline_ms };
    case 'cancel':
      return read;
  }
}

/** The event as it stands in a frame. */
export function encodeEvent(value: WorkerEvent): object {
  return { ...value, payload: encodePayload(value.payload) };
}

function encodePayload(value: WorkerPayload): object {
  switch (value.type) {
    case 'coding-patch': {
      const { baseRevision, patch, patchDigest, changedPaths } = value.patch;
      return {
        type: value.type,
        base_revision: baseRevision,
        patch,
        patch_digest: patchDigest,
        changed_paths: changedPaths,
      };
    }
    case 'terminal': {
      const { output = null, error = null, reason: why = null } = value;
      return { type: value.type, class: value.class, output, error, reason: why };
    }
    default:
      return value;
  }
}

/** Reads an event; anything that the protocol does not name is refused. */
export function decodeEvent(frame: string): WorkerEvent {
  const read = readFrame(event, frame);
  return { ...read, payload: decodePayload(read.payload) };
}

function decodePayload(read: z.output<typeof payload>): WorkerPayload {
  switch (read.type) {
    case 'ready':
      return { type: 'ready', capabilities: read.capabilities as JsonValue };
    case 'usage':
      return { type: 'usage', usage: read.usage as JsonValue };
    case 'coding-patch': {
      const { base_revision: baseRevision, patch, patch_digest, changed_paths } = read;
      const patchDigest = patch_digest as Sha256;
      return {
        type: 'coding-patch',
        patch: { baseRevision, patch, patchDigest, changedPaths: changed_paths },
      };
    }
    case 'terminal':
      return {
        type: 'terminal',
        class: read.class,
        output: (read.output ?? undefined) as Omit<CodingOutcome, 'patch'> | undefined,
        error: (read.error ?? undefined) as WorkerError | undefined,
        reason: read.reason ?? undefined,
      };
    default:
      return read;
  }
}

function readFrame<Schema extends z.ZodType>(schema: Schema, frame: string): z.output<Schema> {
  const parsed = schema.safeParse(parseJson(frame));
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const unknown = issue?.code === 'unrecognized_keys' ? issue.keys.slice(0, 1) : [];
  const path = [...(issue?.path ?? []), ...unknown].map(String).join('.').slice(0, 200);
  const rule = unknown.length > 0 ? 'is unknown' : 'is not as the protocol has it';
  throw new WorkerProtocolError('frame_malformed', `${path || 'a frame'} ${rule}`);
}

function parseJson(frame: string): unknown {
  try {
    return JSON.parse(frame);
  } catch {
    throw new WorkerProtocolError('frame_malformed', 'a frame is no JSON');
  }
}

/** A value as JSON says it: without what is undefined, and with what writes itself written. */
export function toJson(value: unknown): JsonValue {
  return JSON.parse(JSON.stringify(value)) as JsonValue;
}

import type { CodingAdapter } from '@holdfast/agent';
import * as z from 'zod';
import type { Sha256 } from '../coding-job.js';
import { digestOfJson } from './canonical-json.js';
import { safeId } from './field-rules.wire.js';
import { readShape, type ShapeName } from './read-shape.wire.js';

/** The protocol between a runner and its worker. */
export const WORKER_PROTOCOL_VERSION = '1.4';

/** The most that one frame of that protocol may hold, in bytes. */
export const MAXIMUM_EVENT_BYTES = 1024 * 1024;

/** What a worker says that it can do; `print-capabilities` prints the digest of it. */
export interface WorkerCapabilities {
  readonly adapterId: string;
  readonly adapterVersion: string;
  readonly adapterProtocolVersion: string;
  readonly protocolVersion: typeof WORKER_PROTOCOL_VERSION;
  readonly actions: readonly string[];
  /** How a conversation is put away. */
  readonly archive: CodingAdapter['archive'];
  /** Nobody is there who could approve anything. */
  readonly supportsApprovals: false;
  readonly supportsCheckpoint: true;
  readonly supportsSessionReuse: true;
  readonly supportsStreaming: true;
  /** Advisory usage. */
  readonly supportsUsage: true;
  readonly maximumEventBytes: number;
}

const CAPABILITIES: ShapeName = { what: 'capabilities document', kind: 'runner_unfit' };

const capabilities = z.strictObject({
  adapterId: safeId,
  adapterVersion: z.string().min(1),
  adapterProtocolVersion: z.string().min(1),
  protocolVersion: z.literal(WORKER_PROTOCOL_VERSION),
  actions: z.array(safeId).min(1),
  archive: z.enum(['native', 'tombstone']),
  supportsApprovals: z.literal(false),
  supportsCheckpoint: z.literal(true),
  supportsSessionReuse: z.literal(true),
  supportsStreaming: z.literal(true),
  supportsUsage: z.literal(true),
  maximumEventBytes: z.literal(MAXIMUM_EVENT_BYTES),
});

/** What this build's worker can do with an adapter. */
export function describeCapabilities(adapter: CodingAdapter): WorkerCapabilities {
  const { adapterId, adapterVersion, adapterProtocolVersion, actionKind, archive } = adapter;
  return {
    adapterId,
    adapterVersion,
    adapterProtocolVersion,
    protocolVersion: WORKER_PROTOCOL_VERSION,
    actions: [actionKind],
    archive,
    supportsApprovals: false,
    supportsCheckpoint: true,
    supportsSessionReuse: true,
    supportsStreaming: true,
    supportsUsage: true,
    maximumEventBytes: MAXIMUM_EVENT_BYTES,
  };
}

/** Reads what a worker printed; anything else, and so a worker of another protocol, is `runner_unfit`. */
export function decodeCapabilities(value: unknown): WorkerCapabilities {
  return readShape(capabilities, value, CAPABILITIES);
}

/** The digest that admission and a runner's configuration pin. */
export function digestCapabilities(document: WorkerCapabilities): Sha256 {
  return digestOfJson({ ...document });
}

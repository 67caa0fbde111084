import { snakeCaseCodec } from '@holdfast/agent';
import * as z from 'zod';
import type { JsonValue } from '../persistence/store.js';
import type { JobRecord } from './job-record.js';

/** Version of a job's record; on users' disks. */
const JOB_SCHEMA_VERSION = 1;

const ownerCodec = snakeCaseCodec({
  pid: z.number().int(),
  host_id: z.string(),
  since: z.string(),
});

const jobCodec = snakeCaseCodec({
  schema_version: z.number().int(),
  queue: z.string().min(1),
  id: z.string().min(1),
  enqueued_at: z.iso.datetime({ offset: true }),
  order: z.string().regex(/^[A-Za-z0-9._~-]{1,240}$/),
  attempt: z.number().int().min(0),
  state: z.enum(['waiting', 'parked']),
  reason: z.string().optional(),
  not_before: z.iso.datetime({ offset: true }).optional(),
  wait_ms: z.number().min(0).optional(),
  last_error: z.string().optional(),
  owner: z.unknown().optional(),
});

/** The record as it is written. */
export function encodeJobRecord({ payload, owner, ...record }: JobRecord): JsonValue {
  const encoded = z.encode(jobCodec, {
    ...record,
    schemaVersion: JOB_SCHEMA_VERSION,
    owner: owner && z.encode(ownerCodec, { ...owner, hostId: owner.hostId || 'unknown' }),
  });
  // Set after the codec, for which a payload of null or "" would be absent.
  return { ...encoded, payload } as JsonValue;
}

/** A record that was read. */
export type DecodedJob =
  | { readonly state: 'present'; readonly record: JobRecord }
  | { readonly state: 'damaged' }
  | { readonly state: 'newer' };

/** Reads a record of this queue and id. */
export function decodeJobRecord(value: unknown, queue: string, id: string): DecodedJob {
  const version = readField(value, 'schema_version');
  if (typeof version === 'number' && version > JOB_SCHEMA_VERSION) return { state: 'newer' };
  const parsed = jobCodec.safeDecode(value as z.input<typeof jobCodec>);
  if (!parsed.success || parsed.data.queue !== queue || parsed.data.id !== id) {
    return { state: 'damaged' };
  }
  const { schemaVersion: _version, owner, ...fields } = parsed.data;
  const payload = (readField(value, 'payload') ?? null) as JsonValue;
  return { state: 'present', record: { ...fields, payload, owner: readOwner(owner) } };
}

/** It is for people, so that one which cannot be read costs nothing. */
function readOwner(value: unknown): JobRecord['owner'] {
  return ownerCodec.safeDecode(value as z.input<typeof ownerCodec>).data;
}

/** What a wake or a cancel leaves beside the job. */
export interface JobNote {
  readonly id: string;
  /** Of a wake: what the job is run with where its run ended before the wake was seen. */
  readonly payload?: JsonValue | undefined;
}

/** The note as it is written. */
export function encodeJobNote({ id, payload }: JobNote): JsonValue {
  return { schema_version: JOB_SCHEMA_VERSION, id, payload };
}

/** Reads a note; one that is none says nothing. */
export function decodeJobNote(value: unknown): JobNote | undefined {
  const id = readField(value, 'id');
  if (typeof id !== 'string') return undefined;
  return { id, payload: readField(value, 'payload') as JsonValue | undefined };
}

function readField(value: unknown, key: string): unknown {
  return typeof value === 'object' && value !== null
    ? (value as Readonly<Record<string, unknown>>)[key]
    : undefined;
}

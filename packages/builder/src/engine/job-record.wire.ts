import { snakeCaseCodec } from '@holdfast/agent';
import * as z from 'zod';
import {
  type Check,
  hasShape,
  isNumber,
  isObject,
  isText,
  oneOf,
  orAbsent,
} from '../persistence/has-shape.js';
import type { JsonValue } from '../persistence/store.js';
import { instantOf, type JobRecord } from './job-record.js';

/** Version of a job's record; on users' disks. */
const JOB_SCHEMA_VERSION = 1;

const ORDER = /^[A-Za-z0-9._~-]{1,240}$/;

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
  order: z.string().regex(ORDER),
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
  const plain = readPlainJob(value);
  if (plain?.queue === queue && plain.id === id) return { state: 'present', record: plain };
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

/** Most records are just as this version writes them, and one is read for every open job: the codec takes twenty times as long. */
function readPlainJob(value: unknown): JobRecord | undefined {
  if (!hasShape(value, PLAIN_JOB) || !isObject(value)) return undefined;
  for (const key in value) if (!PLAIN_KEYS.has(key)) return undefined;
  // Each field was checked above.
  const wire = value as unknown as WireJob;
  const { pid, host_id: hostId, since } = wire.owner ?? {};
  const owner = wire.owner && ({ pid, hostId, since } as JobRecord['owner']);
  return {
    queue: wire.queue,
    id: wire.id,
    payload: wire.payload ?? null,
    enqueuedAt: wire.enqueued_at,
    order: wire.order,
    attempt: wire.attempt,
    state: wire.state,
    reason: wire.reason,
    notBefore: wire.not_before,
    waitMs: wire.wait_ms,
    lastError: wire.last_error,
    owner,
  };
}

interface WireJob
  extends Pick<JobRecord, 'queue' | 'id' | 'order' | 'attempt' | 'state' | 'reason'> {
  readonly payload?: JsonValue;
  readonly enqueued_at: string;
  readonly not_before?: string;
  readonly wait_ms?: number;
  readonly last_error?: string;
  readonly owner?: { readonly pid: number; readonly host_id: string; readonly since: string };
}

/** As we write one: another spelling of it is the codec's to judge. */
function isOurInstant(value: unknown): boolean {
  const ms = typeof value === 'string' ? Date.parse(value) : Number.NaN;
  return !Number.isNaN(ms) && instantOf(ms) === value;
}

function isOwner(value: unknown): boolean {
  return hasShape(value, [
    ['pid', Number.isSafeInteger],
    ['host_id', isText],
    ['since', isText],
  ]);
}

const PLAIN_JOB: readonly (readonly [string, Check])[] = [
  ['schema_version', (value) => value === JOB_SCHEMA_VERSION],
  ['queue', isText],
  ['id', isText],
  ['payload', () => true],
  ['enqueued_at', isOurInstant],
  ['order', (value) => typeof value === 'string' && ORDER.test(value)],
  ['attempt', (value) => Number.isSafeInteger(value) && Number(value) >= 0],
  ['state', oneOf('waiting', 'parked')],
  ['reason', orAbsent(isText)],
  ['not_before', orAbsent(isOurInstant)],
  ['wait_ms', orAbsent((value) => isNumber(value) && value >= 0)],
  ['last_error', orAbsent(isText)],
  ['owner', orAbsent(isOwner)],
];
const PLAIN_KEYS: ReadonlySet<string> = new Set(PLAIN_JOB.map(([key]) => key));

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

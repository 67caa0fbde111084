import * as z from 'zod';
import type { JsonValue } from '../../persistence/store.js';
import type { Sha256 } from '../coding-job.js';
import { decodeContract } from '../contract/adapter-contract.wire.js';
import { digestOfJson, digestOfText } from '../contract/canonical-json.js';
import { safeId, sha256 } from '../contract/field-rules.wire.js';
import type { CodingWorkerSpec, SpecDigest } from '../worker/worker-spec.js';
import type { CodingJobRecord } from './coding-job-record.js';

/** Version of a coding job's record; on users' disks. */
const CODING_JOB_SCHEMA_VERSION = 1;

const instant = z.iso.datetime({ offset: true });
const json = z.custom<JsonValue>((value) => value !== undefined);

const workerError = z.strictObject({
  kind: z.string(),
  family: z.enum(['coding_thread', 'agent', 'defect']),
  message: z.string(),
  retry: z.enum(['same', 'inspect', 'replace', 'never']),
  json,
});

const outcome = z.looseObject({
  outcome: z.enum(['implemented', 'no-change', 'reviewed', 'closed']),
  operationId: safeId,
});

const workerEnd = z.discriminatedUnion('class', [
  z.strictObject({ class: z.literal('success'), outcome }),
  z.strictObject({ class: z.literal('failed'), error: workerError }),
  z.strictObject({
    class: z.literal('cancelled'),
    reason: z.string(),
    outcome: outcome.optional(),
  }),
  z.strictObject({
    class: z.literal('unknown'),
    reason: z.string(),
    evidence: json.optional(),
  }),
]);

const codingJob = z.strictObject({
  schemaVersion: z.literal(CODING_JOB_SCHEMA_VERSION),
  jobId: safeId,
  runnerId: safeId,
  owner: sha256,
  inputDigest: sha256,
  specDigest: sha256,
  contract: json,
  operationId: safeId,
  sessionRef: z.string().optional(),
  dispatch: sha256.optional(),
  state: z.enum(['PENDING', 'RUNNING', 'SUCCEEDED', 'FAILED', 'CANCELLED', 'UNKNOWN']),
  attempt: z.number().int().min(0),
  fencingToken: z.number().int().min(0),
  executionId: z.string().optional(),
  host: z
    .strictObject({ pid: z.number().int(), hostId: z.string(), startTime: z.string() })
    .optional(),
  order: z.string().min(1),
  submittedAt: instant,
  deadlineAt: instant,
  startedAt: instant.optional(),
  endedAt: instant.optional(),
  end: workerEnd.optional(),
  /** Of `end`: one that was edited is not replayed. */
  endDigest: sha256.optional(),
  acknowledgedAt: instant.optional(),
});

/** The record as it is written. */
export function encodeCodingJob(record: CodingJobRecord): JsonValue {
  const content = JSON.parse(JSON.stringify(record)) as { readonly end?: JsonValue };
  return { schemaVersion: CODING_JOB_SCHEMA_VERSION, ...content, endDigest: digestEnd(content) };
}

/** Over the text as it was written, which half a character of a CLI's answer cannot spoil. */
function digestEnd({ end }: { readonly end?: unknown }): Sha256 | undefined {
  return end === undefined ? undefined : digestOfText(JSON.stringify(end));
}

/** Reads the record of a job; `undefined` for what is none, such as one with an end that was edited. */
export function decodeCodingJobRecord(value: unknown, jobId: string): CodingJobRecord | undefined {
  const parsed = codingJob.safeParse(value);
  if (!parsed.success || parsed.data.jobId !== jobId) return undefined;
  const { schemaVersion: _version, endDigest, contract, ...fields } = parsed.data;
  if (endDigest !== digestEnd(value as { readonly end?: unknown })) return undefined;
  try {
    return { ...fields, contract: decodeContract(contract) } as CodingJobRecord;
  } catch {
    return undefined;
  }
}

/** The spec as it is written. */
export function encodeSpec(spec: CodingWorkerSpec): JsonValue {
  return JSON.parse(JSON.stringify(spec)) as JsonValue;
}

/** The digest that admission gives a spec. */
export function digestSpec(spec: CodingWorkerSpec): SpecDigest['specDigest'] {
  return digestOfJson(encodeSpec(spec));
}

/** Reads a spec back; `undefined` for any but the one that was admitted. */
export function decodeSpec(
  value: unknown,
  { specDigest }: SpecDigest,
): CodingWorkerSpec | undefined {
  const isIt = value !== undefined && digestOfJson(value as JsonValue) === specDigest;
  return isIt ? (value as CodingWorkerSpec) : undefined;
}

const cancelled = z.strictObject({ type: z.literal('cancelled'), at: instant, reason: z.string() });
const logEntry = z.discriminatedUnion('type', [
  cancelled,
  z.strictObject({ type: z.literal('ended'), at: instant }),
]);

/** What is told of a job to those who wait for it. */
export type CodingJobNote = z.infer<typeof logEntry>;

/** Reads an entry of a job's log; `undefined` for what is none. */
export function findNote(value: unknown): CodingJobNote | undefined {
  return logEntry.safeParse(value).data;
}

/** Reads an input as plain JSON, as far as it is that. */
export function findJson(value: unknown): JsonValue | undefined {
  try {
    const text = JSON.stringify(value);
    return text === undefined ? undefined : (JSON.parse(text) as JsonValue);
  } catch {
    return undefined;
  }
}

const turns = z.record(z.string(), z.number().int());

/** Reads whose jobs were begun last; nobody's for what is none. */
export function readTurns(value: unknown): Readonly<Record<string, number>> {
  return turns.safeParse(value).data ?? {};
}

const binary = z.strictObject({ executable: z.string(), binaryDigest: sha256 });

/** A binary as a runner had it. */
export type KnownBinary = z.infer<typeof binary>;

/** Reads which binary a runner had last. */
export function findBinary(value: unknown): KnownBinary | undefined {
  return binary.safeParse(value).data;
}

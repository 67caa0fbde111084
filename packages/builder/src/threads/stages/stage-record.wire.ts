import * as z from 'zod';
import type { JsonValue } from '../../persistence/store.js';
import { implementationArtifact, reviewResult } from '../contract/artifacts.wire.js';
import { safeId, sha256, uuid } from '../contract/field-rules.wire.js';
import type { StageRecord } from './stage-record.js';

/** Version of a stage's record; on users' disks. */
const STAGE_SCHEMA_VERSION = 1;

const receipt = z.strictObject({
  sessionRef: uuid,
  checkpoint: uuid,
  state: z.enum(['READY', 'CLOSED']),
  closeError: z.string().optional(),
});

const thread = z.strictObject({
  sessionRef: uuid,
  receipt: receipt.optional(),
  patchDigest: sha256.optional(),
  review: reviewResult.optional(),
  closeError: z.string().optional(),
});

const count = z.number().int().min(0);

const owner = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('workflow'), processId: uuid }),
  z.strictObject({ kind: z.literal('session'), sessionId: uuid, principal: z.string() }),
]);

const lostThread = z.strictObject({
  role: z.enum(['implement', 'review']),
  sessionRef: uuid,
  state: z.enum(['CLOSED', 'READY', 'ABANDONED']),
  receipt: receipt.optional(),
  closeError: z.string().optional(),
});

const job = z.strictObject({
  seat: z.enum(['implementer', 'reviewer', 'finalReviewer']),
  mode: z.enum(['new', 'resume', 'close']),
  operationId: safeId,
  inputDigest: sha256,
  scope: sha256.optional(),
  dispatch: z.number().int().min(1),
});

const ledgerEntry = z.strictObject({
  finding: reviewResult.shape.findings.element,
  state: z.enum(['open', 'claimed', 'closed']),
  judgedIn: sha256,
});

const failure = z.strictObject({
  reason: z.enum([
    ...(['rounds_exhausted', 'no_progress', 'replacements_exhausted'] as const),
    ...(['job_failed', 'publish_blocked'] as const),
  ]),
  why: z.string(),
});

const stageRecord = z.strictObject({
  schemaVersion: z.literal(STAGE_SCHEMA_VERSION),
  stageId: safeId,
  stageDigest: sha256,
  owner,
  seats: z.strictObject({
    implementer: thread,
    reviewer: thread,
    finalReviewer: thread.optional(),
  }),
  lost: z.array(lostThread),
  job: job.optional(),
  unacknowledged: z.array(safeId),
  candidate: z.strictObject({ patchDigest: sha256, artifact: implementationArtifact }).optional(),
  patches: z.array(sha256),
  reviews: z.array(reviewResult),
  reviewedBy: z.enum(['reviewer', 'finalReviewer']).optional(),
  ledger: z.array(ledgerEntry),
  remediations: count,
  isPrepaid: z.literal(true).optional(),
  replacements: count,
  stalls: count,
  verdict: z.enum(['accepted', 'no-change']).optional(),
  failure: failure.optional(),
});

/** The record as it is written. */
export function encodeStageRecord(record: StageRecord): JsonValue {
  return JSON.parse(
    JSON.stringify({ schemaVersion: STAGE_SCHEMA_VERSION, ...record }),
  ) as JsonValue;
}

/** Reads a record; `undefined` for what this version cannot read. */
export function decodeStageRecord(value: unknown): StageRecord | undefined {
  const parsed = stageRecord.safeParse(value);
  if (!parsed.success) return undefined;
  const { schemaVersion: _version, ...record } = parsed.data;
  return record as StageRecord;
}

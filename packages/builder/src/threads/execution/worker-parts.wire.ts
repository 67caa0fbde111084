import * as z from 'zod';
import { implementationArtifact, reviewResult } from '../contract/artifacts.wire.js';
import { absolutePath, safeId, sha256 } from '../contract/field-rules.wire.js';
import { findReceipt } from '../contract/thread-directive.wire.js';
import type { CodingStep } from '../worker/worker-spec.js';

/** The steps of a try. */
export const codingStep = z.enum([
  'validate_spec',
  'check_bundle',
  'stage_bundle',
  'open_thread',
  'rebuild_workspace',
  'prepare_native',
  'claim',
  'start_native',
  'run_turn',
  'validate_result',
  'report_patch',
  'commit',
  'close_after_turn',
  'end_native',
]) satisfies z.ZodType<CodingStep>;

const name = z.string().regex(/^[A-Za-z_][A-Za-z0-9_]{0,127}$/, 'must be the name of a variable');
const secret = z.strictObject({ env: name });
const valueOrSecret = z.union([z.string(), secret]);

/** A spec's own fields. What stands in its turn is judged by the worker's first step. */
export const workerSpec = z.strictObject({
  schemaVersion: z.literal(1),
  turn: z.looseObject({ prompt: z.string() }),
  operationId: safeId,
  trusted: z.strictObject({
    scope: sha256,
    authenticationProfile: z.string(),
    adapterContractDigest: sha256,
    manifestDigest: sha256,
    policy: z.json().optional(),
  }),
  adapterId: safeId,
  cli: z.strictObject({
    binary: absolutePath.optional(),
    cliHome: absolutePath.optional(),
    endpoint: z.strictObject({ baseUrl: z.string().min(1), apiKey: secret.optional() }).optional(),
    env: z.record(name, valueOrSecret).optional(),
  }),
  otherHomes: z.array(absolutePath),
  repositoryUriPrefix: z.string(),
  dataDir: absolutePath,
  workspacesDir: absolutePath,
  git: absolutePath,
  bubblewrap: absolutePath.optional(),
  inactivityMs: z.number().int().min(1),
});

const receipt = z.unknown().refine((value) => findReceipt(value) !== undefined, {
  error: 'must be a receipt',
});

/** An outcome without its patch. */
export const codingOutcome = z.strictObject({
  outcome: z.enum(['implemented', 'no-change', 'reviewed', 'closed']),
  operationId: safeId,
  thread: receipt.optional(),
  artifact: implementationArtifact.optional(),
  review: reviewResult.optional(),
  finalMessage: z.string().optional(),
  usage: z
    .strictObject({
      inputTokens: z.number(),
      cachedInputTokens: z.number(),
      outputTokens: z.number(),
      authoritative: z.literal(false),
    })
    .optional(),
  evidence: z.record(z.string(), z.json()),
});

import type { CodingAdapter } from '@holdfast/agent';
import * as z from 'zod';
import type { Sha256 } from '../coding-job.js';
import { digestOfJson } from './canonical-json.js';
import { modelId, permissionName } from './field-rules.wire.js';
import { readShape, refuseShape, type ShapeName } from './read-shape.wire.js';

/** Who decides what the CLI may do, how, and which models it may be asked for. No caller of a job names any of it. */
export interface CodingPolicy {
  readonly schemaVersion: 1;
  /** `agent-policy`, or the adapter's own source. */
  readonly permissionSource: string;
  readonly permissionMode: string;
  /** Nobody is there to be asked: every question of the CLI is answered with no. */
  readonly interaction: 'unattended';
  /** 1 to 32; without them a job may name no model. */
  readonly allowedModels?: readonly string[] | undefined;
  /** One of `allowedModels`. */
  readonly defaultModel?: string | undefined;
}

const POLICY: ShapeName = { what: 'policy', kind: 'runner_unfit' };

const codingPolicy = z
  .strictObject({
    schemaVersion: z.literal(1).default(1),
    permissionSource: permissionName,
    permissionMode: permissionName,
    interaction: z.literal('unattended').default('unattended'),
    allowedModels: z
      .array(modelId)
      .min(1)
      .max(32)
      .refine((models) => new Set(models).size === models.length, {
        error: 'must name each model once',
      })
      .optional(),
    defaultModel: modelId.optional(),
  })
  .refine(
    ({ defaultModel, allowedModels }) =>
      defaultModel === undefined || allowedModels?.includes(defaultModel) === true,
    { path: ['defaultModel'], error: 'must be one of allowedModels' },
  );

/**
 * Reads a policy for an adapter, whose matrix says which mode each source has. Anything else is `runner_unfit`, which
 * names the field: a runner with a policy that its CLI does not know must take no job.
 */
export function decodePolicy(
  value: unknown,
  permissionModes: CodingAdapter['permissionModes'],
): CodingPolicy {
  const policy: CodingPolicy = readShape(codingPolicy, value, POLICY);
  const modes = Object.hasOwn(permissionModes, policy.permissionSource)
    ? permissionModes[policy.permissionSource]
    : undefined;
  if (!modes) {
    const rule = `must be one of ${Object.keys(permissionModes).join(', ')}`;
    throw refuseShape(POLICY, { path: 'permissionSource', rule });
  }
  if (!modes.includes(policy.permissionMode)) {
    const rule = `must be one of ${modes.join(', ')} where ${policy.permissionSource} decides`;
    throw refuseShape(POLICY, { path: 'permissionMode', rule });
  }
  return policy;
}

/** The digest of a policy; the order in which its models are named is none of it. */
export function digestPolicy(policy: CodingPolicy): Sha256 {
  const { allowedModels, ...rest } = policy;
  return digestOfJson({
    ...rest,
    ...(allowedModels && { allowedModels: [...allowedModels].sort() }),
  });
}

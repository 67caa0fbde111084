import type { CodingAdapter } from '@holdfast/agent';
import * as z from 'zod';
import type { CodingJobInput, CodingRequest, CodingRole, Sha256 } from '../coding-job.js';
import type { CodingAdapterContract } from './adapter-contract.wire.js';
import { checkJobRules } from './check-job-rules.js';
import { type CodingJobRules, codingRequest } from './coding-job.wire.js';
import { type CodingPolicy, decodePolicy } from './coding-policy.wire.js';
import type { AuthenticationProfile } from './features.js';
import { absolutePath, boundedText, isSameSet, sha256 } from './field-rules.wire.js';
import {
  checkManifestDigest,
  describeManifest,
  digestManifest,
} from './materialization-manifest.wire.js';
import { readShape, refuseShape, type ShapeName } from './read-shape.wire.js';
import { ROLE_PROFILES, type RoleProfile, writableRootsOf } from './role-profile.js';

/** What the service makes of a job: the job, and everything that no caller names. Nothing about the turn stands elsewhere. */
export interface CodingTurnSpec extends CodingRequest {
  readonly role: CodingRole;
  readonly writableRoots: readonly string[];
  readonly policy?: CodingPolicy | undefined;
  readonly repositoryDigest: Sha256;
  readonly prompt: string;
  readonly modelAlias: string;
  readonly authenticationProfile: AuthenticationProfile;
  readonly roleProfile: Omit<RoleProfile, 'allowedTools'>;
  readonly materializationManifestDigest: Sha256;
}

/** The part of a contract that a spec is made with and held to. */
type Compatibility = Pick<CodingAdapterContract, 'compatibilityDigest'>;

/** What the service adds to a job. */
export interface TurnSpecParts {
  readonly contract: Compatibility;
  readonly authenticationProfile: AuthenticationProfile;
  readonly policy?: CodingPolicy | undefined;
}

/** What a spec is held to when it is read. */
export interface TurnSpecRules {
  readonly repositoryUriPrefix: string;
  readonly contract: Compatibility;
  readonly permissionModes: CodingAdapter['permissionModes'];
}

const SPEC: ShapeName = { what: 'turn spec', kind: 'invalid_job' };

const turnSpec = codingRequest.extend({
  role: z.enum(['implement', 'review']),
  writableRoots: z.array(absolutePath).min(1),
  policy: z.unknown().optional(),
  repositoryDigest: sha256,
  prompt: boundedText(64 * 1024),
  modelAlias: z.string(),
  authenticationProfile: z.enum(['personal-subscription', 'enterprise-api']),
  roleProfile: z.strictObject({
    profileId: z.string(),
    modelAlias: z.string(),
    workspaceAuthority: z.enum(['bounded-write', 'review-read-only']),
  }),
  materializationManifestDigest: sha256,
});

/** The spec of a job that was read. */
export function buildTurnSpec(
  { text, coding }: CodingJobInput,
  { contract, authenticationProfile, policy }: TurnSpecParts,
): CodingTurnSpec {
  const role = coding.role ?? 'implement';
  const { allowedTools: _fixed, ...roleProfile } = ROLE_PROFILES[role];
  return {
    ...coding,
    role,
    writableRoots: [...writableRootsOf(coding)].sort(),
    ...(policy && { policy }),
    repositoryDigest: coding.repository.digest,
    prompt: text,
    modelAlias: roleProfile.modelAlias,
    authenticationProfile,
    roleProfile,
    materializationManifestDigest: digestManifest(describeManifest(coding, contract)),
  };
}

/** Reads a spec. One that breaks a rule of jobs, roles, policies or manifests is refused, and names the path and the rule. */
export function decodeTurnSpec(value: unknown, rules: TurnSpecRules): CodingTurnSpec {
  const parsed = readShape(turnSpec, value, SPEC);
  const policy =
    parsed.policy === undefined ? undefined : decodePolicy(parsed.policy, rules.permissionModes);
  const spec = { ...parsed, ...(policy && { policy }) } as CodingTurnSpec;
  checkRole(spec);
  const { repositoryUriPrefix } = rules;
  const broken = checkJobRules(jobOfTurn(spec), {
    repositoryUriPrefix,
    authenticationProfile: spec.authenticationProfile,
    allowedModels: policy?.allowedModels,
  } satisfies CodingJobRules);
  if (broken) throw refuseShape(SPEC, { ...broken, path: broken.path.replace(/^coding\./, '') });
  checkManifestDigest(spec.materializationManifestDigest, spec, rules.contract);
  return spec;
}

/** The last part of a role is fixed: no spec makes a reviewer of an implementer, or gives one another's tools. */
function checkRole(spec: CodingTurnSpec): void {
  const { profileId, modelAlias, workspaceAuthority } = ROLE_PROFILES[spec.role];
  const wrong = [
    [spec.roleProfile.profileId === profileId, 'roleProfile.profileId'],
    [spec.roleProfile.modelAlias === modelAlias, 'roleProfile.modelAlias'],
    [spec.roleProfile.workspaceAuthority === workspaceAuthority, 'roleProfile.workspaceAuthority'],
    [spec.modelAlias === modelAlias, 'modelAlias'],
    [isSameSet(spec.writableRoots, writableRootsOf(spec)), 'writableRoots'],
  ].find(([isRight]) => isRight === false);
  if (wrong) throw refuseShape(SPEC, { path: String(wrong[1]), rule: 'must be that of the role' });
  if (spec.repositoryDigest !== spec.repository.digest) {
    throw refuseShape(SPEC, { path: 'repositoryDigest', rule: 'must be that of repository' });
  }
}

/** The job that a spec was made of, with its role named. */
export function jobOfTurn(turn: CodingTurnSpec): CodingJobInput {
  const {
    prompt,
    policy: _policy,
    repositoryDigest: _repositoryDigest,
    modelAlias: _modelAlias,
    authenticationProfile: _authenticationProfile,
    roleProfile: _roleProfile,
    materializationManifestDigest: _manifestDigest,
    ...coding
  } = turn;
  return { profile: 'coding', text: prompt, coding };
}

import type { JsonValue } from '../../persistence/store.js';
import type { CodingJobInput, CodingRole, Sha256 } from '../coding-job.js';
import { encodeCanonicalJson } from './canonical-json.js';
import { ROLE_PROFILES, writableRootsOf } from './role-profile.js';

/** What must be the same for every operation of a thread. */
export interface ThreadBinding {
  readonly scope: Sha256;
  readonly runnerId: string;
  readonly stageId: string;
  readonly role: CodingRole;
  readonly roleProfile: string;
  readonly modelAlias: string;
  readonly authenticationProfile: string;
  readonly adapterContractDigest: Sha256;
  readonly repositoryDigest: Sha256;
  readonly baseRevision: string;
  readonly workspaceRoot: string;
  readonly writableRoots: readonly string[];
  readonly allowedTools: readonly string[];
  readonly manifestDigest: Sha256;
  /** What the service attaches of permissions and models, where it does. */
  readonly policy?: JsonValue | undefined;
}

/** The parts of a binding that the service adds to a job. */
export type TrustedBinding = Pick<
  ThreadBinding,
  'scope' | 'authenticationProfile' | 'adapterContractDigest' | 'manifestDigest' | 'policy'
>;

/** The binding of a job with a directive. Its prompt, its bounds and its review input are free to change. */
export function bindJob({ coding }: CodingJobInput, trusted: TrustedBinding): ThreadBinding {
  const { thread, repository, baseRevision, workspaceRoot, role = 'implement' } = coding;
  if (!thread) throw new TypeError('A job without a directive has no binding.');
  const { profileId, modelAlias, allowedTools } = ROLE_PROFILES[role];
  return {
    ...trusted,
    runnerId: thread.runnerId,
    stageId: thread.stageId,
    role,
    roleProfile: profileId,
    modelAlias,
    repositoryDigest: repository.digest,
    baseRevision,
    workspaceRoot,
    writableRoots: [...writableRootsOf(coding)].sort(),
    allowedTools,
  };
}

/** The paths of what differs, sorted; none where the bindings are equal. */
export function findDifferingFields(one: ThreadBinding, other: ThreadBinding): readonly string[] {
  return compare({ ...one }, { ...other }, '').sort();
}

function compare(one: unknown, other: unknown, path: string): string[] {
  if (isObject(one) && isObject(other)) {
    const names = [...new Set([...Object.keys(one), ...Object.keys(other)])];
    return names.flatMap((name) =>
      compare(one[name], other[name], path === '' ? name : `${path}.${name}`),
    );
  }
  return textOf(one) === textOf(other) ? [] : [path];
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function textOf(value: unknown): string {
  return isJson(value) ? encodeCanonicalJson(value) : '';
}

function isJson(value: unknown): value is JsonValue {
  return value !== undefined;
}

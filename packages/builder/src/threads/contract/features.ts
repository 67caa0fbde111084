import type { CodingJobInput, Sha256 } from '../coding-job.js';

/** Who pays for the CLI, and whose login it has. */
export type AuthenticationProfile = 'personal-subscription' | 'enterprise-api';

/** That a runner keeps threads: its worker is the one that was built with it. */
export const THREADS_FEATURE = 'workflow-coding-threads-v1';

const PROFILE_FEATURES: Readonly<Record<AuthenticationProfile, readonly string[]>> = {
  'personal-subscription': ['personal-subscription-auth-v1', 'local-single-user-native-v1'],
  'enterprise-api': ['enterprise-api-auth-v1'],
};

/** What is known of a runner when it says what it can do. */
export interface RunnerFacts {
  readonly adapterId: string;
  readonly authenticationProfile: AuthenticationProfile;
  /** What the installed worker says of itself. */
  readonly capabilityDigest: Sha256;
  /** What a worker says that was built with this runner, and so keeps threads. */
  readonly threadCapabilityDigest: Sha256;
  /** Whether a policy was configured that its adapter knows. */
  readonly hasPolicy?: boolean | undefined;
  /** Whether namespaces can be made here. */
  readonly hasBubblewrap?: boolean | undefined;
}

/** What every adapter contract asks of a runner. */
export function listContractFeatures(adapterId: string): readonly string[] {
  return [adapterId, 'canonical-patch-output', 'immutable-repository-upload'].sort();
}

/** What a runner can do, sorted. A new runner with an old worker keeps no threads, whatever its version says. */
export function listFeatures(facts: RunnerFacts): readonly string[] {
  const { authenticationProfile, capabilityDigest, threadCapabilityDigest } = facts;
  const isPersonal = authenticationProfile === 'personal-subscription';
  const isBuiltWithIt = capabilityDigest === threadCapabilityDigest;
  return sortedSet([
    ...listContractFeatures(facts.adapterId),
    ...PROFILE_FEATURES[authenticationProfile],
    ...(isPersonal && isBuiltWithIt ? [THREADS_FEATURE] : []),
    ...(isPersonal && isBuiltWithIt && facts.hasPolicy === true ? ['personal-policy-v1'] : []),
    ...(facts.hasBubblewrap === true ? ['review-namespace-v1'] : []),
  ]);
}

/** What a job asks of the runner that it goes to, sorted. */
export function requiredFeatures(
  { coding }: Pick<CodingJobInput, 'coding'>,
  profile: AuthenticationProfile,
  ofContract: readonly string[] = [],
): readonly string[] {
  return sortedSet([
    ...ofContract,
    'canonical-patch-output',
    'immutable-repository-upload',
    ...PROFILE_FEATURES[profile],
    ...(coding.thread ? [THREADS_FEATURE] : []),
    ...(coding.nativeModel === undefined ? [] : ['personal-policy-v1']),
  ]);
}

/** What is asked for and not offered. */
export function findMissingFeatures(
  required: readonly string[],
  offered: readonly string[],
): readonly string[] {
  return required.filter((feature) => !offered.includes(feature));
}

function sortedSet(features: readonly string[]): readonly string[] {
  return [...new Set(features)].sort();
}

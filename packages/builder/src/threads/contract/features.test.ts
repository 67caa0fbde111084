import { describe, expect, it } from 'vitest';
import { DIGEST, implementJob } from './__fixtures__/coding-jobs.js';
import { digestOfText } from './canonical-json.js';
import {
  findMissingFeatures,
  listFeatures,
  type RunnerFacts,
  requiredFeatures,
  THREADS_FEATURE,
} from './features.js';

const facts: RunnerFacts = {
  adapterId: 'example-v1',
  authenticationProfile: 'personal-subscription',
  capabilityDigest: DIGEST,
  threadCapabilityDigest: DIGEST,
};
const ephemeral = implementJob({ thread: undefined });

function missing(change: Partial<RunnerFacts>, job = implementJob()): readonly string[] {
  const required = requiredFeatures(job, 'personal-subscription', ['example-v1']);
  return findMissingFeatures(required, listFeatures({ ...facts, ...change }));
}

describe('the features of a runner', () => {
  it('serve every job of its adapter and its authentication', () => {
    expect(missing({})).toEqual([]);
    expect(missing({}, ephemeral)).toEqual([]);
    expect(missing({ adapterId: 'another-v1' })).toEqual(['example-v1']);
  });

  it('hold no threads with a worker that was not built with it, though it still takes ephemeral jobs', () => {
    const old = { capabilityDigest: digestOfText('an older worker') };
    expect(missing(old)).toEqual([THREADS_FEATURE]);
    expect(missing(old, ephemeral)).toEqual([]);
  });

  it('name a model only under a policy', () => {
    const job = implementJob({ nativeModel: 'model-a' });
    expect(missing({}, job)).toEqual(['personal-policy-v1']);
    expect(missing({ hasPolicy: true }, job)).toEqual([]);
  });

  it('keep personal and enterprise runners apart, and threads with the personal ones', () => {
    const enterprise = { authenticationProfile: 'enterprise-api' } as const;
    expect(missing(enterprise)).toEqual([
      'local-single-user-native-v1',
      'personal-subscription-auth-v1',
      THREADS_FEATURE,
    ]);
    const required = requiredFeatures(ephemeral, 'enterprise-api');
    expect(findMissingFeatures(required, listFeatures({ ...facts, ...enterprise }))).toEqual([]);
    expect(findMissingFeatures(required, listFeatures(facts))).toEqual(['enterprise-api-auth-v1']);
  });

  it('say whether a namespace can be made', () => {
    expect(listFeatures({ ...facts, hasBubblewrap: true })).toContain('review-namespace-v1');
    expect(listFeatures(facts)).not.toContain('review-namespace-v1');
  });
});

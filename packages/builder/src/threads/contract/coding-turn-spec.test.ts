import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { CodingJobInput } from '../coding-job.js';
import { adapter, contractOf, refusalOf } from './__fixtures__/adapters.js';
import {
  artifact,
  CHECKPOINT,
  DIGEST,
  implementJob,
  jobRules,
  review,
  reviewJob,
} from './__fixtures__/coding-jobs.js';
import { digestOfText } from './canonical-json.js';
import { decodePolicy } from './coding-policy.wire.js';
import { buildTurnSpec, type CodingTurnSpec, decodeTurnSpec } from './coding-turn-spec.wire.js';
import {
  decodeManifest,
  describeManifest,
  digestManifest,
} from './materialization-manifest.wire.js';

const { permissionModes } = adapter;
const contract = contractOf();
const rules = { repositoryUriPrefix: jobRules.repositoryUriPrefix, contract, permissionModes };
const policy = decodePolicy(
  { permissionSource: 'agent-policy', permissionMode: 'managed', allowedModels: ['model-a'] },
  permissionModes,
);
const authenticationProfile = 'personal-subscription';
const at = (path: string) => expect.objectContaining({ path });

const specOf = (job: CodingJobInput = implementJob()): CodingTurnSpec =>
  buildTurnSpec(job, { contract, authenticationProfile, policy });

const readings = (spec: unknown, kind: 'invalid_job' | 'runner_unfit' = 'invalid_job') =>
  refusalOf(kind, () => decodeTurnSpec(spec, rules));

const jobs = [
  implementJob(),
  implementJob({ nativeModel: 'model-a', thread: undefined, writableRoots: ['/workspace/repo/x'] }),
  implementJob({ remediation: { priorReview: review() } }),
  reviewJob(),
  reviewJob({
    priorReview: review(),
    implementation: artifact({ resolvedFindingIds: ['f1'] }),
  }),
];

describe('a turn spec', () => {
  it('round-trips through its closed encoding, losing nothing', () => {
    for (const job of jobs) {
      const spec = specOf(job);
      expect(decodeTurnSpec(JSON.parse(JSON.stringify(spec)), rules)).toEqual(
        JSON.parse(JSON.stringify(spec)),
      );
    }
  });

  it('refuses an unknown key, and one that is not there', () => {
    const spec = specOf();
    const owed = ['prompt', 'role', 'roleProfile', 'repositoryDigest', 'writableRoots'] as const;
    for (const key of [
      ...owed,
      'materializationManifestDigest',
      'authenticationProfile',
    ] as const) {
      const { [key]: _gone, ...rest } = spec;
      expect(readings(rest)).toEqual(at(key));
    }
    for (const key of ['threadScope', 'permissionMode', 'sandbox', 'nativeId', 'codexPolicy']) {
      expect(readings({ ...spec, [key]: 'x' })).toEqual({ path: key, rule: 'is unknown' });
    }
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(readings(value)).not.toBe('taken');
      }),
    );
  });

  it("keeps the role whole: no part of it can be another role's", () => {
    const implement = specOf();
    const judge = specOf(reviewJob());
    expect(implement.roleProfile).toEqual({
      profileId: 'coding-implement-v1',
      modelAlias: 'coding-implementer',
      workspaceAuthority: 'bounded-write',
    });
    expect(judge.roleProfile).toEqual({
      profileId: 'coding-review-v1',
      modelAlias: 'coding-reviewer',
      workspaceAuthority: 'review-read-only',
    });
    expect(judge.writableRoots).toEqual(['/workspace/review-scratch']);
    for (const [one, other] of [
      [implement, judge],
      [judge, implement],
    ] as const) {
      for (const key of ['profileId', 'modelAlias', 'workspaceAuthority'] as const) {
        const roleProfile = { ...one.roleProfile, [key]: other.roleProfile[key] };
        expect(readings({ ...one, roleProfile })).toEqual(at(`roleProfile.${key}`));
      }
      expect(readings({ ...one, modelAlias: other.modelAlias })).toEqual(at('modelAlias'));
      expect(readings({ ...one, allowedTools: other.allowedTools })).toEqual(at('allowedTools'));
      expect(readings({ ...one, writableRoots: other.writableRoots })).toEqual(at('writableRoots'));
      expect(readings({ ...one, role: other.role })).not.toBe('taken');
    }
  });

  it('holds a review to its loop: no review without a candidate, no remediation of what was approved', () => {
    expect(readings({ ...specOf(reviewJob()), reviewInput: undefined })).toEqual(at('reviewInput'));
    const approved = review({ verdict: 'approved', findings: [] });
    expect(readings({ ...specOf(), remediation: { priorReview: approved } })).toEqual(
      at('remediation.priorReview.verdict'),
    );
    const same = reviewJob({
      implementation: artifact({ resolvedFindingIds: ['f1'] }),
      priorReview: review({ artifactDigest: artifact().patchDigest }),
    });
    expect(readings(specOf(same))).toEqual(at('reviewInput.priorReview.artifactDigest'));
  });

  it('names a model only that the attached policy admits', () => {
    const spec = specOf(implementJob({ nativeModel: 'model-a' }));
    expect(readings(spec)).toBe('taken');
    expect(readings({ ...spec, nativeModel: 'model-b' })).toEqual(at('nativeModel'));
    const { policy: _none, ...bare } = spec;
    expect(readings(bare)).toEqual(at('nativeModel'));
    const forged = { ...policy, permissionMode: 'bypass' };
    expect(readings({ ...spec, policy: forged }, 'runner_unfit')).toEqual(at('permissionMode'));
  });

  it('keeps threads to a personal subscription', () => {
    const spec = { ...specOf(), authenticationProfile: 'enterprise-api' };
    expect(readings(spec)).toEqual(at('thread'));
    expect(readings({ ...spec, thread: undefined })).toBe('taken');
  });

  it('is bound to its repository and its manifest, which is made anew and never believed', () => {
    const spec = specOf();
    expect(readings({ ...spec, repositoryDigest: digestOfText('other') })).toEqual(
      at('repositoryDigest'),
    );
    for (const change of [
      { materializationManifestDigest: DIGEST },
      { writableRoots: ['/workspace/repo/x'] },
    ]) {
      expect(readings({ ...spec, ...change })).toEqual(at('materializationManifestDigest'));
    }
    const drifted = { ...rules, contract: contractOf({ archive: 'tombstone' }) };
    expect(refusalOf('invalid_job', () => decodeTurnSpec(spec, drifted))).toEqual(
      at('materializationManifestDigest'),
    );
  });

  it('measures its prompt in bytes', () => {
    const closing = { mode: 'close', expectedCheckpoint: CHECKPOINT } as const;
    expect(readings({ ...specOf(), thread: { ...implementJob().coding.thread, ...closing } })).toBe(
      'taken',
    );
    expect(readings({ ...specOf(), prompt: 'ä'.repeat(32_769) })).toEqual(at('prompt'));
    expect(readings({ ...specOf(), prompt: '' })).toEqual(at('prompt'));
  });
});

describe('a materialization manifest', () => {
  it('is closed, empty but for the writable roots, and has one digest for them', () => {
    const roots = ['/workspace/repo/a', '/workspace/repo/b'];
    const manifest = describeManifest(implementJob({ writableRoots: roots }).coding, contract);
    const turned = implementJob({ writableRoots: [...roots].reverse() }).coding;
    expect(digestManifest(describeManifest(turned, contract))).toBe(digestManifest(manifest));
    expect(digestManifest(describeManifest(implementJob().coding, contract))).not.toBe(
      digestManifest(manifest),
    );
    for (const [change, path] of [
      [{ packages: [{ name: 'x' }] }, 'packages'],
      [{ effectiveInstructions: ['x'] }, 'effectiveInstructions'],
      [{ allowedTools: ['fs.read'] }, 'allowedTools'],
      [{ writableRoots: [] }, 'writableRoots'],
      [{ materializerId: 'other' }, 'materializerId'],
      [{ mounts: [] }, 'mounts'],
    ] as const) {
      expect(refusalOf('invalid_job', () => decodeManifest({ ...manifest, ...change }))).toEqual(
        expect.objectContaining({ path: expect.stringContaining(path) }),
      );
    }
  });
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JsonValue } from '../../persistence/store.js';
import type { CodingJobInput, ThreadDirective } from '../coding-job.js';
import { isCodingThreadError } from '../coding-thread-error.js';
import {
  artifact,
  CHECKPOINT,
  DIGEST,
  implementJob,
  jobRules,
  review,
  reviewJob,
} from './__fixtures__/coding-jobs.js';
import { digestOfJson, encodeCanonicalJson } from './canonical-json.js';
import { type CodingJobRules, decodeCodingJob, digestJob } from './coding-job.wire.js';

function refusalOf(job: unknown, rules: CodingJobRules = jobRules): unknown {
  try {
    decodeCodingJob(job, rules);
  } catch (error) {
    if (isCodingThreadError(error) && error.kind === 'invalid_job') return error.details.evidence;
    throw error;
  }
  return 'taken';
}

const at = (path: string) => expect.objectContaining({ path });

function withThread(change: Partial<ThreadDirective>): CodingJobInput {
  const thread = { ...implementJob().coding.thread, ...change } as ThreadDirective;
  return implementJob({ thread });
}

/** Every object in a value, by its path. */
function listObjects(value: unknown, path: readonly (string | number)[] = []): (typeof path)[] {
  if (typeof value !== 'object' || value === null) return [];
  const below = Object.entries(value).flatMap(([key, field]) => listObjects(field, [...path, key]));
  return Array.isArray(value) ? below : [path, ...below];
}

function withKey(value: JsonValue, path: readonly (string | number)[], key: string): unknown {
  const copy = JSON.parse(JSON.stringify(value));
  const place = path.reduce((found, name) => found[name], copy);
  Object.defineProperty(place, key, { value: 1, enumerable: true });
  return copy;
}

const complete = reviewJob({
  priorReview: review(),
  implementation: artifact({ resolvedFindingIds: ['f1'] }),
});

describe('canonical JSON', () => {
  it('keeps the golden vector stable', () => {
    expect(encodeCanonicalJson({ b: 2, a: 1 })).toBe('{"a":1,"b":2}');
    expect(digestOfJson({ b: 2, a: 1 })).toBe(
      'sha256:43258cff783fe7036d8a43033f830adfc60ec037382473548ac742b888292777',
    );
  });

  it('sorts by UTF-8 bytes at every depth, leaves other signs as they are and arrays in order', () => {
    const value = { '\u{1F600}': [2, { z: 1, a: 'ä' }], '\uFFFD': undefined, '\uFF5E': null };
    expect(encodeCanonicalJson(value)).toBe('{"～":null,"😀":[2,{"a":"ä","z":1}]}');
  });

  it('is the same for every order of keys, and reads back as the same value', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string({ unit: 'grapheme' }), fc.jsonValue()), (value) => {
        const turned = Object.fromEntries(Object.entries(value).reverse());
        const text = encodeCanonicalJson(value as JsonValue);
        expect(encodeCanonicalJson(turned as JsonValue)).toBe(text);
        expect(encodeCanonicalJson(JSON.parse(text))).toBe(text);
      }),
    );
  });

  it('refuses what JSON cannot say', () => {
    for (const value of [Number.NaN, Number.POSITIVE_INFINITY, '\ud800']) {
      expect(() => digestOfJson({ value })).toThrow(TypeError);
    }
  });
});

describe('decodeCodingJob', () => {
  it('round-trips a complete job through its closed schema, losing nothing', () => {
    for (const job of [implementJob(), complete]) {
      expect(decodeCodingJob(JSON.parse(JSON.stringify(job)), jobRules)).toEqual(job);
    }
  });

  it('refuses an unknown key in every object of a job, and names its path', () => {
    const job = JSON.parse(JSON.stringify(complete));
    const paths = listObjects(job);
    expect(paths.length).toBe(9);
    const key = fc.stringMatching(/^[a-z]{3,12}Key$/);
    fc.assert(
      fc.property(fc.constantFrom(...paths), key, (path, name) => {
        expect(refusalOf(withKey(job, path, name))).toEqual({
          path: [...path, name].join('.'),
          rule: 'is unknown',
        });
      }),
    );
  });

  it('refuses a job that lacks any of its required keys', () => {
    const optional = ['role', 'thread', 'validationEvidence', 'priorReview'];
    for (const key of Object.keys(complete.coding).filter((name) => !optional.includes(name))) {
      const { [key]: _gone, ...coding } = complete.coding as unknown as Record<string, unknown>;
      expect(refusalOf({ ...complete, coding }), key).not.toBe('taken');
    }
  });

  it.each([
    'threadScope',
    'scope',
    'codexPolicy',
    'claudePolicy',
    'permissionMode',
    'sandbox',
    'threadId',
    'nativeId',
  ])('refuses %s from a caller as unknown', (name) => {
    const job = implementJob();
    expect(refusalOf({ ...job, coding: { ...job.coding, [name]: 'x' } })).toEqual({
      path: `coding.${name}`,
      rule: 'is unknown',
    });
  });

  it('has no answer but a job or invalid_job, whatever it is given', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(refusalOf(value)).not.toBe('taken');
        expect(refusalOf({ ...implementJob(), coding: value })).not.toBe('taken');
      }),
    );
  });
});

describe('thread directives', () => {
  it('are explicit, native and backward compatible', () => {
    const { thread: _none, ...coding } = implementJob().coding;
    const old = { ...implementJob(), coding };
    expect(decodeCodingJob(old, jobRules)).toEqual(old);
    expect(digestJob(old)).not.toBe(digestJob(implementJob()));
    expect(refusalOf(withThread({ mode: 'resume' }))).toEqual(
      at('coding.thread.expectedCheckpoint'),
    );
    expect(refusalOf(withThread({ mode: 'close' }))).toEqual(
      at('coding.thread.expectedCheckpoint'),
    );
    expect(refusalOf(withThread({ expectedCheckpoint: CHECKPOINT }))).toEqual(
      at('coding.thread.expectedCheckpoint'),
    );
    for (const mode of ['resume', 'close'] as const) {
      expect(refusalOf(withThread({ mode, expectedCheckpoint: CHECKPOINT }))).toBe('taken');
    }
    const closing = {
      mode: 'close',
      expectedCheckpoint: CHECKPOINT,
      closeAfterTurn: true,
    } as const;
    expect(refusalOf(withThread(closing))).toEqual(at('coding.thread.closeAfterTurn'));
  });

  it('need a personal subscription, which an enterprise worker has not', () => {
    const enterprise = { ...jobRules, authenticationProfile: 'enterprise-api' } as const;
    expect(refusalOf(implementJob(), enterprise)).toEqual(at('coding.thread'));
    expect(refusalOf(implementJob({ thread: undefined }), enterprise)).toBe('taken');
    expect(refusalOf({ ...implementJob(), profile: 'enterprise' })).toEqual(at('profile'));
  });

  it.each([
    ['sessionRef', '00000000-0000-0000-0000-000000000000'],
    ['sessionRef', 'request-1'],
    ['runnerId', ''],
    ['runnerId', 'a/b'],
    ['runnerId', 'x'.repeat(129)],
    ['stageId', 'stage A'],
    ['stageId', '..'],
    ['operationId', 'a b'],
  ])('refuse %s = %j', (name, value) => {
    expect(refusalOf(withThread({ [name]: value }))).toEqual(at(`coding.thread.${name}`));
  });

  it('take a session reference of any UUID version', () => {
    for (const version of '12345678') {
      const sessionRef = `019a0000-0000-${version}000-8000-000000000001`;
      expect(refusalOf(withThread({ sessionRef }))).toBe('taken');
    }
  });
});

describe('the rules of a coding job', () => {
  it.each([
    'http://host/bundles/r.bundle',
    'file://host/bundles/r.bundle',
    'file:///bundles/../etc/r.bundle',
    'file:///bundles/%2e%2e/r.bundle',
    'file:///bundles/r.bundle?x',
    'file:///bundles/r.bundle#x',
    'file:///other/r.bundle',
    'file:///bundles-too/r.bundle',
  ])('refuse the bundle at %s', (artifactUri) => {
    const repository = { ...implementJob().coding.repository, artifactUri };
    expect(refusalOf(implementJob({ repository }))).toEqual(at('coding.repository.artifactUri'));
  });

  it.each([
    ['workspaceRoot', '/home/repo'],
    ['workspaceRoot', '/workspace/../etc'],
    ['baseRevision', 'a'.repeat(39)],
    ['maximumPatchBytes', 0],
    ['maximumPatchBytes', 131_073],
    ['maximumChangedFiles', 4097],
    ['maximumChangedFiles', 1.5],
    ['writableRoots', []],
    ['writableRoots', ['/workspace/repository']],
    ['writableRoots', ['/workspace/repo/../x']],
    ['allowedTools', ['fs.read', 'fs.write']],
    ['allowedTools', ['fs.read', 'fs.write', 'process.exec', 'fs.read']],
    ['nativeModel', 'some-model'],
    ['reviewInput', reviewJob().coding.reviewInput],
    ['remediation', { priorReview: review({ verdict: 'approved', findings: [] }) }],
  ])('refuse %s = %j for an implementer', (name, value) => {
    const path = expect.stringContaining(`coding.${name}`);
    expect(refusalOf(implementJob({ [name]: value }))).toEqual(expect.objectContaining({ path }));
  });

  it('admit a native model that the attached policy names, and no other', () => {
    const rules = { ...jobRules, allowedModels: ['model-a'] };
    expect(refusalOf(implementJob({ nativeModel: 'model-a' }), rules)).toBe('taken');
    expect(refusalOf(implementJob({ nativeModel: 'model-b' }), rules)).toEqual(
      at('coding.nativeModel'),
    );
  });

  it('hold a review to its role, and to folders apart from the workspace', () => {
    const { coding } = reviewJob();
    const job = (change: object) => ({ ...reviewJob(), coding: { ...coding, ...change } });
    expect(refusalOf(reviewJob())).toBe('taken');
    expect(refusalOf(job({ reviewInput: undefined }))).toEqual(at('coding.reviewInput'));
    expect(refusalOf(job({ remediation: { priorReview: review() } }))).toEqual(
      at('coding.remediation'),
    );
    for (const root of ['/workspace', '/workspace/repo', '/workspace/repo/x']) {
      expect(refusalOf(job({ writableRoots: [root] }))).toEqual(at('coding.writableRoots'));
    }
    const thread = { ...coding.thread, mode: 'close', expectedCheckpoint: CHECKPOINT };
    expect(refusalOf(job({ reviewInput: undefined, thread }))).toBe('taken');
  });

  it.each([
    ['requirementsDigest', { requirementsDigest: DIGEST }],
    ['implementation.patchDigest', { candidatePatch: 'diff --git a/x b/x\n' }],
    ['implementation.patchDigest', { implementation: artifact({ patchDigest: DIGEST }) }],
    ['implementation.baseRevision', { implementation: artifact({ baseRevision: 'c'.repeat(40) }) }],
    [
      'implementation.changedPaths',
      { implementation: artifact({ changedPaths: ['src/two.txt'] }) },
    ],
    [
      'implementation.changedPaths',
      { implementation: artifact({ changedPaths: ['src/one.txt', 'src/two.txt'] }) },
    ],
    ['implementation.changedPaths', { implementation: artifact({ changedPaths: [] }) }],
    ['implementation.changedPaths.0', { implementation: artifact({ changedPaths: ['../x'] }) }],
    [
      'implementation.resolvedFindingIds',
      { implementation: artifact({ resolvedFindingIds: ['f1'] }) },
    ],
    ['implementation.resolvedFindingIds', { priorReview: review() }],
    [
      'priorReview.artifactDigest',
      {
        implementation: artifact({ resolvedFindingIds: ['f1'] }),
        priorReview: review({ artifactDigest: artifact().patchDigest }),
      },
    ],
    ['priorReview.verdict', { priorReview: review({ verdict: 'approved', findings: [] }) }],
    ['priorReview.verdict', { priorReview: review({ verdict: 'approved' }) }],
    ['priorReview.verdict', { priorReview: review({ findings: [] }) }],
    [
      'implementation.validationEvidence.0.exitCode',
      {
        implementation: artifact({
          validationEvidence: [{ command: ['x'], status: 'passed', exitCode: 1 }],
        }),
      },
    ],
  ])('refuse a review input whose %s is inconsistent', (path, change) => {
    expect(refusalOf(reviewJob(change))).toEqual(at(`coding.reviewInput.${path}`));
  });

  it('refuse findings that share an id', () => {
    const [finding] = review().findings;
    const findings = finding ? [finding, finding] : [];
    expect(refusalOf(implementJob({ remediation: { priorReview: review({ findings }) } }))).toEqual(
      at('coding.remediation.priorReview.findings'),
    );
    expect(refusalOf(implementJob({ remediation: { priorReview: review() } }))).toBe('taken');
  });

  it('measure the prompt in bytes', () => {
    expect(refusalOf({ ...implementJob(), text: 'ä'.repeat(32_768) })).toBe('taken');
    expect(refusalOf({ ...implementJob(), text: 'ä'.repeat(32_769) })).toEqual(at('text'));
    expect(refusalOf({ ...implementJob(), text: '' })).toEqual(at('text'));
  });
});

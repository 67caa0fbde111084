import { rm } from 'node:fs/promises';
import { CliUnusableError } from '@holdfast/agent';
import { describe, expect, it } from 'vitest';
import { DIGEST, review } from '../contract/__fixtures__/coding-jobs.js';
import { digestOfText } from '../contract/canonical-json.js';
import { jobOfTurn } from '../contract/coding-turn-spec.wire.js';
import { jobOf, openFresh } from '../store/__fixtures__/thread-bench.js';
import { type CodingBench, codingBench, type RunChange } from './__fixtures__/coding-bench.js';
import type { CodingWorkerSpec } from './worker-spec.js';

type Job = ReturnType<CodingBench['job']>;

/** A thread that is READY after one turn, and a job that goes on with it. */
async function readyBench(coding: Partial<Job['coding']> = {}) {
  const bench = await codingBench();
  const first = await bench.run(bench.job({}, coding));
  const { checkpoint } = first.thread ?? {};
  const resume = (change: Partial<Job['coding']> = {}) =>
    bench.job({ mode: 'resume', expectedCheckpoint: checkpoint }, { ...coding, ...change });
  return { bench, first, resume };
}

function policyOf({ turn: { policy } }: CodingWorkerSpec) {
  if (!policy) throw new TypeError('the turn has no policy');
  const { schemaVersion: _version, interaction: _nobody, ...rest } = policy;
  return rest;
}

/** Expects a refusal that costs no request, changes no byte and starts no session. */
async function expectRefusal(bench: CodingBench, job: Job, expected: object, change?: RunChange) {
  const messages = bench.sessions.userMessages();
  const before = await bench.bytes();
  await expect(bench.run(job, change)).rejects.toMatchObject(expected);
  expect(await bench.bytes()).toBe(before);
  expect(bench.sessions.userMessages()).toEqual(messages);
}

describe('before the claim', () => {
  it('an explicit model survives an omitted resume and a changed default, and cannot switch', async () => {
    const { bench, resume } = await readyBench({ nativeModel: 'model-a' });
    const policy = { ...policyOf(bench.spec(resume())), defaultModel: 'model-b' };
    await expectRefusal(
      bench,
      resume({ nativeModel: 'model-b' }),
      { kind: 'thread_binding_changed', details: { differingFields: ['nativeModel'] } },
      { spec: { policy } },
    );
    const { nativeModel: _omitted, ...coding } = resume().coding;
    const resumed = await bench.run({ ...resume(), coding }, { spec: { policy } });
    expect(resumed.evidence['nativeModel']).toBe('model-a');
  });

  it('a thread that began without a model has none ever after', async () => {
    const { bench, resume } = await readyBench();
    await expectRefusal(bench, resume({ nativeModel: 'model-a' }), {
      kind: 'thread_binding_changed',
      details: { differingFields: ['nativeModel'] },
    });
  });

  it('a model that no policy admits is refused before a thread is opened', async () => {
    const bench = await codingBench();
    await expectRefusal(bench, bench.job({}, { nativeModel: 'model-z' }), { kind: 'invalid_job' });
  });

  it('a bundle mismatch fails before a session is created', async () => {
    const bench = await codingBench();
    const repository = { ...bench.bundle.bundle, digest: DIGEST };
    await expectRefusal(bench, bench.job({}, { repository }), { kind: 'workspace_refused' });
    expect(bench.sessions.sent).toEqual([]);
    expect(await bench.bytes()).toBe('absent');
  });

  it('a manifest mismatch fails before a session is created', async () => {
    const bench = await codingBench();
    const job = bench.job();
    const { trusted } = bench.spec(job);
    const spec = { trusted: { ...trusted, manifestDigest: DIGEST } };
    await expectRefusal(bench, job, { kind: 'invalid_job' }, { spec });
    expect(bench.sessions.sent).toEqual([]);
  });

  it('a turn with parts of another role, without a policy or under another login is refused, and nothing is opened', async () => {
    const bench = await codingBench();
    const job = bench.job();
    const { turn } = bench.spec(job);
    const roleProfile = { ...turn.roleProfile, workspaceAuthority: 'review-read-only' } as const;
    for (const [change, kind] of [
      [{ roleProfile }, 'invalid_job'],
      [{ modelAlias: 'coding-reviewer' }, 'invalid_job'],
      [{ writableRoots: ['/workspace'] }, 'invalid_job'],
      [{ repositoryDigest: DIGEST }, 'invalid_job'],
      [{ policy: undefined }, 'runner_unfit'],
    ] as const) {
      await expectRefusal(bench, job, { kind }, { spec: { turn: { ...turn, ...change } } });
    }
    const plain = bench.job('ephemeral');
    const enterprise = {
      ...bench.spec(plain).turn,
      authenticationProfile: 'enterprise-api',
    } as const;
    await expectRefusal(bench, plain, { kind: 'runner_unfit' }, { spec: { turn: enterprise } });
    expect(bench.sessions.sent).toEqual([]);
    expect(await bench.bytes()).toBe('absent');
  });

  it('a remediation of another patch is refused, and the same directive can be mended', async () => {
    const { bench, resume } = await readyBench();
    const priorReview = review({ artifactDigest: digestOfText('another') });
    await expectRefusal(bench, resume({ remediation: { priorReview } }), {
      kind: 'remediation_mismatch',
    });
    expect((await bench.run(resume())).thread?.state).toBe('READY');
  });

  it('a runner without the adapter, the mode or the operation is unfit for the job', async () => {
    const bench = await codingBench();
    const job = bench.job();
    const policy = policyOf(bench.spec(job));
    const unfit = [
      { adapterId: 'nobodys-v1' },
      { policy: { ...policy, permissionMode: 'root' } },
      { operationId: 'another' },
      { git: 'git' },
    ];
    for (const spec of unfit) await expectRefusal(bench, job, { kind: 'runner_unfit' }, { spec });
  });

  it('a conversation that the CLI lost costs no checkpoint', async () => {
    const { bench, resume } = await readyBench();
    bench.sessions.world.sessions.clear();
    await expectRefusal(bench, resume(), { kind: 'thread_native_missing', retry: 'replace' });
  });

  it('a thread at work elsewhere is busy, and nothing is staged beside it', async () => {
    const { bench, resume } = await readyBench();
    const { turn, trusted } = bench.spec(resume());
    const { thread } = await bench.threads.open({ job: jobOfTurn(turn), trusted });
    await using _held = thread;
    await rm(bench.root, { recursive: true });
    await expectRefusal(bench, resume(), { kind: 'thread_busy', retry: 'same' });
    await expect(rm(bench.root, { recursive: true })).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it('an error of the agent passes as it is', async () => {
    const { bench, resume } = await readyBench();
    const error = new CliUnusableError('cli', 'missing', 'it is not there');
    Object.defineProperty(bench.sessions, 'inspect', { value: () => Promise.reject(error) });
    await expectRefusal(bench, resume(), error);
  });

  it('a cancel leaves everything as it was, and the same directive succeeds afterwards', async () => {
    const { bench, resume } = await readyBench();
    const steps = ['validate_spec', 'stage_bundle', 'rebuild_workspace', 'prepare_native', 'claim'];
    for (const step of steps) {
      const cancel = new AbortController();
      const report: RunChange['report'] = (told) => {
        if (told.type === 'step' && told.step === step) cancel.abort(new TypeError('cancelled'));
      };
      await expectRefusal(bench, resume(), {}, { signal: cancel.signal, report });
    }
    expect((await bench.run(resume())).thread?.state).toBe('READY');
  });
});

describe('the thread of a job', () => {
  it('of another scope is another thread', async () => {
    const bench = await codingBench();
    await bench.run(bench.job());
    const other = `sha256:${'c'.repeat(64)}` as const;
    const job = bench.job();
    const { trusted } = bench.spec(job);
    const { evidence } = await bench.run(job, { spec: { trusted: { ...trusted, scope: other } } });
    expect(bench.sessions.world.sessions.size).toBe(2);
    expect(evidence['nativeId']).toBeDefined();
  });

  it('is not opened without the job that it was written for', async () => {
    const bench = await codingBench();
    await using opened = await openFresh(bench.threads, jobOf({}));
    expect(opened.nativeId).toBeUndefined();
  });
});

import { describe, expect, it } from 'vitest';
import { keys } from '../../persistence/keys.js';
import type { Store } from '../../persistence/store.js';
import { DIGEST, implementJob, reviewJob } from '../contract/__fixtures__/coding-jobs.js';
import { digestContract } from '../contract/adapter-contract.wire.js';
import { digestOfText } from '../contract/canonical-json.js';
import {
  type AdapterQualification,
  QUALIFICATION_DIMENSIONS,
} from '../contract/qualification.wire.js';
import { createThreadStore } from '../store/thread-store.js';
import {
  adapterId,
  createCodingBench,
  installBinary,
  owner,
  PROCESS,
  plainJob,
  threadJob,
} from './__fixtures__/coding-bench.js';
import { readCodingJob } from './coding-job-files.js';

const OTHER = digestOfText('another');

/** A full one, of the contract that a job was admitted with. */
async function qualificationOf(store: Store, jobId: string): Promise<AdapterQualification> {
  const record = await readCodingJob({ store }, jobId);
  if (!record) throw new TypeError('there is no such job');
  return {
    schemaVersion: 1,
    status: 'qualified',
    evaluated: QUALIFICATION_DIMENSIONS,
    contractDigest: digestContract(record.contract),
    evidenceDigest: DIGEST,
  };
}

describe('the admission of a coding job', () => {
  it('gives the worker an immutable spec that names everything, with the trusted scope of its owner', async () => {
    const { start, workers, dataDir, binary } = await createCodingBench();
    const runner = { cliHomes: { implement: '/homes/i', review: '/homes/r' } };
    const { jobs } = await start({ runner });
    await (await jobs.submit(threadJob('one'))).result();
    const { spec } = await workers.waitForRun('one');
    expect(spec).toMatchObject({
      schemaVersion: 1,
      operationId: 'one',
      adapterId,
      dataDir,
      workspacesDir: `${dataDir}/workspaces`,
      cli: { binary, cliHome: '/homes/i' },
      otherHomes: ['/homes/r'],
      trusted: { scope: jobs.scopeOf(owner), authenticationProfile: 'personal-subscription' },
      turn: { thread: { operationId: 'one', runnerId: 'personal' } },
    });
    expect(spec.git).toMatch(/^\//);
  });

  it('gives a reviewer the home of its own role, and keeps an operation id that the directive names', async () => {
    const { start, workers } = await createCodingBench();
    const { jobs } = await start({ runner: { cliHomes: { implement: '/i', review: '/r' } } });
    const { coding, ...rest } = reviewJob();
    const thread = { ...coding.thread, operationId: 'op-7' };
    const input = { ...rest, coding: { ...coding, thread } };
    await (await jobs.submit({ jobId: 'one', owner, input })).result();
    expect((await workers.waitForRun('op-7')).spec.cli.cliHome).toBe('/r');
  });

  it('keeps nothing of a job whose runner holds a secret by its value', async () => {
    const { start, store, binary } = await createCodingBench();
    const cli = { binary, env: { SOME_API_KEY: 'a-value' } };
    const { jobs } = await start({ runner: { cli } });
    await expect(jobs.submit(plainJob('one'))).rejects.toMatchObject({ kind: 'runner_unfit' });
    expect((await store.read(keys.codingSpec('one'))).state).toBe('absent');
  });

  it.each([
    ['an unknown field', { ...implementJob(), permissionMode: 'yes' }],
    ['a scope', implementJob({ scope: DIGEST } as object)],
    ['a native thread', implementJob({ nativeThreadId: 'x' } as object)],
    ['a repository elsewhere', foreignRepository()],
    ['a model that no policy admits', implementJob({ nativeModel: 'model-a' })],
    ['no JSON', () => {}],
    ['half a character', { ...implementJob(), text: '\ud800' }],
  ])('refuses %s before anything is kept', async (_what, input) => {
    const { start, store, workers } = await createCodingBench();
    const { jobs } = await start();
    await expect(jobs.submit({ ...threadJob('one'), input })).rejects.toMatchObject({
      kind: 'invalid_job',
      retry: 'never',
    });
    expect(await store.list(['coding'])).toEqual([]);
    expect(workers.runs).toEqual([]);
    expect(await jobs.find('one')).toBeUndefined();
  });

  it.each(['', '..', 'a/b', 'ä', 'x'.repeat(129)])('refuses the id %j', async (jobId) => {
    const { open } = await createCodingBench();
    const refused = open().jobs.submit(plainJob(jobId));
    await expect(refused).rejects.toMatchObject({ kind: 'invalid_job' });
  });

  it('refuses a directive where the login is an enterprise one', async () => {
    const { start, store } = await createCodingBench();
    const { jobs } = await start({ runner: { authenticationProfile: 'enterprise-api' } });
    await expect(jobs.submit(threadJob('one'))).rejects.toMatchObject({
      kind: 'invalid_job',
      details: { evidence: { path: 'coding.thread' } },
    });
    expect(await store.list(['coding', 'jobs'])).toEqual([]);
    await (await jobs.submit(plainJob('two'))).result();
  });

  it('pins a directive to its runner, and never gives it to another one', async () => {
    const { start, workers, binary } = await createCodingBench();
    const other = { runnerId: 'other', adapter: adapterId, cli: { binary } };
    const { jobs } = await start({ options: { runners: [other] } });
    const refused = jobs.submit(threadJob('one'));
    await expect(refused).rejects.toMatchObject({ kind: 'runner_unfit', retry: 'same' });
    const contradicting = jobs.submit(threadJob('one', { runnerId: 'other' }));
    await expect(contradicting).rejects.toMatchObject({ kind: 'invalid_job' });
    expect(workers.runs).toEqual([]);
  });

  it('asks a job without a directive for its runner where there are several', async () => {
    const { start, workers, binary } = await createCodingBench();
    const runners = ['one', 'two'].map((runnerId) => ({
      ...{ runnerId, adapter: adapterId, cli: { binary } },
    }));
    const { jobs } = await start({ options: { runners } });
    await expect(jobs.submit(plainJob('job'))).rejects.toMatchObject({ kind: 'invalid_job' });
    const job = await jobs.submit(plainJob('job', { runnerId: 'two' }));
    await job.result();
    expect(await job.view()).toMatchObject({ runnerId: 'two', state: 'SUCCEEDED' });
    expect(workers.operations).toEqual(['job']);
  });

  it.each([
    ['capabilityDigest', { capabilityDigest: OTHER }],
    ['binaryDigest', { binaryDigest: OTHER }],
  ])('compares digests, and names the %s that differs', async (path, expected) => {
    const { start, store } = await createCodingBench();
    const { jobs } = await start({ runner: { expected } });
    await expect(jobs.submit(threadJob('one'))).rejects.toMatchObject({
      kind: 'runner_unfit',
      details: { evidence: { path } },
    });
    expect(await store.list(['coding', 'jobs'])).toEqual([]);
  });

  it('lets pinned digests pass that are those of the installed worker and binary', async () => {
    const { start } = await createCodingBench();
    const expected = { capabilityDigest: DIGEST, binaryDigest: digestOfText('one') };
    const { jobs } = await start({ runner: { expected } });
    await (await jobs.submit(threadJob('one'))).result();
  });

  it('writes no key down that a runner was given literally, and tells each worker the one of now', async () => {
    const { open, start, store, workers, binary } = await createCodingBench();
    const cliWith = (apiKey: string) => ({
      cli: { binary, endpoint: { baseUrl: 'http://127.0.0.1:1/v1', apiKey } },
    });
    const first = open({ runner: cliWith('key-of-before') });
    await first.jobs.submit(plainJob('one'));
    const spec = await store.read(keys.codingSpec('one'));
    expect(spec).toMatchObject({
      value: { cli: { endpoint: { apiKey: { env: 'HOLDFAST_ENDPOINT_KEY' } } } },
    });
    expect(JSON.stringify(spec)).not.toContain('key-of-before');
    await first.close();
    const { jobs } = await start({ runner: cliWith('key-of-now') });
    await (await jobs.find('one'))?.result();
    const { variables } = await workers.waitForRun('one');
    expect(variables).toEqual({ HOLDFAST_ENDPOINT_KEY: 'key-of-now' });
  });

  it('lets a runner work in production only with a qualification of all it is made of', async () => {
    const { open, start, store } = await createCodingBench();
    const { jobs } = await start();
    await (await jobs.submit(plainJob('local'))).result();
    const qualification = await qualificationOf(store, 'local');
    const evaluated = QUALIFICATION_DIMENSIONS.filter((one) => one !== 'license-compatibility');
    const local = { ...qualification, status: 'local-qualified', evaluated } as const;
    const use = 'production';
    for (const [runner, path] of [
      [{ use }, 'status'],
      [{ use, qualification: local }, 'status'],
      [{ use, qualification: { ...qualification, contractDigest: OTHER } }, 'contractDigest'],
      [{ qualification: { ...local, contractDigest: OTHER } }, 'contractDigest'],
    ] as const) {
      await expect(open({ runner }).jobs.submit(threadJob('one'))).rejects.toMatchObject({
        kind: 'runner_unfit',
        details: { evidence: { path } },
      });
    }
    expect(await jobs.find('one')).toBeUndefined();
    const { jobs: qualified } = await start({ runner: { use, qualification } });
    await (await qualified.submit(threadJob('one'))).result();
  });

  it('rejects worker and binary drift right before a waiting job is run, and names what differs', async () => {
    const { open, start, workers, binary } = await createCodingBench();
    const first = open();
    await first.jobs.submit(plainJob('one'));
    await installBinary(binary, 'two');
    await first.close();
    const { jobs } = await start();
    await expect((await jobs.find('one'))?.result()).rejects.toMatchObject({
      kind: 'runner_unfit',
      details: { differingFields: ['binaryDigest'] },
    });
    workers.capabilities = OTHER;
    expect(workers.runs).toEqual([]);
    await (await jobs.submit(plainJob('two'))).result();
  });

  it('admits the close of a thread whose binary is gone, bound as it was', async () => {
    const { start, workers } = await createCodingBench();
    const { jobs } = await start();
    await (await jobs.submit(threadJob('one'))).result();
    const { jobs: later } = await start({ runner: { cli: { binary: '/gone/cli' } } });
    const { coding, ...rest } = implementJob();
    const thread = { ...coding.thread, mode: 'close', expectedCheckpoint: PROCESS };
    const input = { ...rest, coding: { ...coding, thread } };
    await (await later.submit({ jobId: 'two', owner, input })).result();
    const [one, two] = workers.runs.map(({ spec }) => spec);
    expect(two?.cli.binary).toBe('/gone/cli');
    expect(two?.trusted.adapterContractDigest).toBe(one?.trusted.adapterContractDigest);
  });

  it('never runs a spec that does not stand as it was admitted', async () => {
    const { open, start, store, workers } = await createCodingBench();
    const first = open();
    await first.jobs.submit(plainJob('one'));
    const found = await store.read(keys.codingSpec('one'));
    if (found.state !== 'present') throw new TypeError('it has no spec');
    await store.write(keys.codingSpec('one'), { ...(found.value as object), git: '/evil/git' });
    await first.close();
    const { jobs } = await start();
    await expect((await jobs.find('one'))?.result()).rejects.toMatchObject({ kind: 'invalid_job' });
    expect(workers.runs).toEqual([]);
  });

  it('keeps the scope of a process in every builder, and gives another process or policy another one', async () => {
    const { open } = await createCodingBench();
    const one = open().jobs;
    expect(open().jobs.scopeOf(owner)).toBe(one.scopeOf(owner));
    const scopes = [
      one.scopeOf(owner),
      one.scopeOf({ kind: 'workflow', processId: DIGEST.slice(7, 15) + PROCESS.slice(8) }),
      one.scopeOf({ kind: 'session', sessionId: PROCESS, principal: 'a' }),
      open({ options: { host: 'elsewhere' } }).jobs.scopeOf(owner),
      open({ runner: { authenticationProfile: 'enterprise-api' } }).jobs.scopeOf(owner),
    ];
    expect(new Set(scopes).size).toBe(scopes.length);
  });
});

function foreignRepository() {
  const { coding, ...rest } = implementJob();
  const repository = { ...coding.repository, artifactUri: 'file:///elsewhere/r.bundle' };
  return { ...rest, coding: { ...coding, repository } };
}

it('a thread store sees no thread of a job that was only admitted', async () => {
  const { open, store } = await createCodingBench();
  const { jobs } = open();
  await jobs.submit(threadJob('one'));
  const place = { scope: jobs.scopeOf(owner), sessionRef: '019a0000-0000-7000-8000-000000000001' };
  expect(await createThreadStore(store).inspect(place)).toBeUndefined();
});

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DIGEST } from '../contract/__fixtures__/coding-jobs.js';
import { adapterId, createCodingBench, plainJob, threadJob } from './__fixtures__/coding-bench.js';
import { createJobsProcesses, type JobsProcesses } from './__fixtures__/jobs-process.js';

let processes: JobsProcesses;

beforeAll(async () => {
  processes = await createJobsProcesses();
}, 120_000);

afterAll(() => processes[Symbol.asyncDispose]());

const cli = { binary: '/gone/cli' };
const options = {
  ...{ host: 'host', origin: 'service', boundary: DIGEST, git: process.execPath },
  repositoryUriPrefix: 'file:///bundles/',
  runners: [{ runnerId: 'personal', adapter: adapterId, cli }],
};

async function createPlace() {
  const bench = await createCodingBench();
  const { dataDir } = bench;
  const runsFile = join(dataDir, '..', 'runs');
  const spawn = (...requests: readonly unknown[]) =>
    processes.spawn({ dataDir, runsFile, options, requests });
  const runs = async () => (await readFile(runsFile, 'utf8')).trim().split('\n');
  return { start: () => bench.start({ options }), spawn, runs };
}

describe('builders of several processes on one data directory', () => {
  it('run each job once, and never more at once than the runner may', async () => {
    const { spawn, runs } = await createPlace();
    const names = Array.from({ length: 6 }, (_name, index) => `job-${index}`);
    const all = [1, 2].map(() => spawn(...names.map((name) => plainJob(name))));
    for (const one of all) expect(await one.hear()).toBe('ready');
    for (const one of all) one.tell();
    for (const one of all) {
      let said = '';
      while (!said.startsWith('ended')) said = await one.hear();
      expect(said).toBe(`ended ${names.map(() => 'ok').join(' ')}`);
    }
    const noted = await runs();
    expect(noted.filter((line) => line.startsWith('begin')).sort()).toEqual(
      names.map((name) => `begin ${name}`),
    );
    for (const [at, line] of noted.entries()) {
      if (line.startsWith('begin')) expect(noted[at + 1]).toBe(line.replace('begin', 'end'));
    }
    for (const one of all) await one.kill();
  }, 60_000);

  it('find a job whose host was killed, end it as UNKNOWN, and never run it again', async () => {
    const { start, spawn, runs } = await createPlace();
    const doomed = spawn(threadJob('long-1'));
    await doomed.hear();
    doomed.tell();
    expect(await doomed.hear()).toBe('running long-1');
    const { jobs } = await start();
    const job = await jobs.find('long-1');
    const wait = job?.result();
    wait?.catch(() => {});
    expect((await job?.view())?.state).toBe('RUNNING');
    await doomed.kill();
    await expect(wait).rejects.toMatchObject({ kind: 'execution_unknown', retry: 'inspect' });
    await jobs.submit(threadJob('long-1'));
    expect(await runs()).toEqual(['begin long-1']);
  }, 60_000);

  it('reach the process of a running job with a cancel', async () => {
    const { start, spawn, runs } = await createPlace();
    const host = spawn(threadJob('long-1'));
    await host.hear();
    host.tell();
    expect(await host.hear()).toBe('running long-1');
    const { jobs } = await start();
    const job = await jobs.find('long-1');
    await job?.cancel('not wanted');
    await expect(job?.result()).rejects.toMatchObject({ kind: 'job_cancelled' });
    expect(await host.hear()).toBe('ended job_cancelled');
    expect(await runs()).toEqual(['begin long-1', 'end long-1']);
    await host.kill();
  }, 60_000);
});

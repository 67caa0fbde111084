import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { place } from '../store/__fixtures__/thread-bench.js';
import { codingBench, TOMBSTONE } from './__fixtures__/coding-bench.js';
import { checkPayer } from './check-payer.js';

async function homeWith(settings: unknown): Promise<string> {
  const cliHome = await mkdtemp(join(tmpdir(), 'holdfast-'));
  onTestFinished(() => rm(cliHome, { recursive: true, force: true }));
  await writeFile(join(cliHome, 'settings.json'), JSON.stringify(settings));
  return cliHome;
}

it('settings of the CLI that have another pay are refused before the claim, and cost no checkpoint', async () => {
  const bench = await codingBench(TOMBSTONE);
  const { thread } = await bench.run(bench.job());
  const before = await bench.bytes();
  const cliHome = await homeWith({ env: { ANTHROPIC_BASE_URL: 'http://127.0.0.1:1' } });
  const job = bench.job({ mode: 'resume', expectedCheckpoint: thread?.checkpoint });
  await expect(
    bench.run(job, { sessions: undefined, spec: { cli: { cliHome, binary: '/nowhere' } } }),
  ).rejects.toMatchObject({
    kind: 'runner_unfit',
    retry: 'same',
    details: { evidence: { setting: 'settings.json: ANTHROPIC_BASE_URL' } },
  });
  expect(await bench.bytes()).toBe(before);
  expect((await bench.threads.inspect(place))?.state).toBe('READY');
  expect((await bench.run(job)).outcome).toBe('no-change');
});

it('settings that say nothing of it let a job pass, and so does another profile', async () => {
  const bench = await codingBench(TOMBSTONE);
  const spec = bench.spec(bench.job());
  const plain = { ...spec, cli: { cliHome: await homeWith({ env: { LANG: 'C' } }) } };
  await expect(checkPayer({ spec: plain })).resolves.toBeUndefined();
  const paid = { ...spec, cli: { cliHome: await homeWith({ apiKeyHelper: 'x' }) } };
  await expect(checkPayer({ spec: paid })).rejects.toMatchObject({ kind: 'runner_unfit' });
  const trusted = { ...spec.trusted, authenticationProfile: 'enterprise-api' };
  await expect(checkPayer({ spec: { ...paid, trusted } })).resolves.toBeUndefined();
});

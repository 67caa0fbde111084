import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { codingBench, TOMBSTONE } from './__fixtures__/coding-bench.js';
import { planSession } from './coding-session.js';
import { validateSpec } from './validate-spec.js';

it('hides the homes of other roles and runners from the namespace of a job, where they are there', async () => {
  const bench = await codingBench(TOMBSTONE);
  const { store, workspacesDir } = bench;
  const homes = join(workspacesDir, '..', 'homes');
  const [own = '', other = '', gone = ''] = ['one', 'other', 'gone'].map((name) =>
    join(homes, name),
  );
  await mkdir(other, { recursive: true });
  const cli = { cliHome: own };
  const spec = { bubblewrap: '/usr/bin/bwrap', cli, otherHomes: [other, gone] };
  const job = validateSpec({
    spec: bench.spec(bench.job('ephemeral'), spec),
    store,
    signal: new AbortController().signal,
    report: () => {},
  });
  const { launcher } = planSession(job, { adapterState: undefined }).plan.config;
  const mounts = (launcher ?? []).join(' ');
  expect(mounts).toContain(`--tmpfs ${other} `);
  expect(mounts).toContain(`--bind ${own} ${own} `);
  expect(mounts).not.toContain(gone);
});

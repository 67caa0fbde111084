import { findCodingAdapter } from '@holdfast/agent';
import { expect, it } from 'vitest';
import { codingBench, NATIVE, TOMBSTONE } from './__fixtures__/coding-bench.js';

const modes = ([NATIVE, TOMBSTONE] as const).flatMap((adapterId) =>
  Object.entries(findCodingAdapter(adapterId)?.adapter.permissionModes ?? {}).flatMap(
    ([permissionSource, names]) =>
      names.map((permissionMode) => ({ adapterId, permissionSource, permissionMode })),
  ),
);

it.each(modes)(
  'a job of $adapterId commits under $permissionSource $permissionMode, and tells what held it',
  async ({ adapterId, permissionSource, permissionMode }) => {
    const bench = await codingBench(adapterId);
    bench.writes([{ path: 'src/one.txt', content: 'two\n' }]);
    const policy = { permissionSource, permissionMode };
    const outcome = await bench.run(bench.job(), { spec: { policy } });
    expect(outcome).toMatchObject({
      outcome: 'implemented',
      thread: { state: 'READY' },
      evidence: { permissionSource, permissionMode, unenforced: expect.any(Array) },
    });
    const [session] = bench.sessions.world.sessions.values();
    expect(session?.workingDir).toBe(`${bench.root}/work`);
  },
);

it('no job runs under a mode that its adapter has for another source', async () => {
  const bench = await codingBench(NATIVE);
  const policy = { permissionSource: 'agent-policy', permissionMode: 'inherit' };
  await expect(bench.run(bench.job(), { spec: { policy } })).rejects.toMatchObject({
    kind: 'runner_unfit',
    details: { evidence: { path: 'permissionMode' } },
  });
  expect(bench.sessions.sent).toEqual([]);
});

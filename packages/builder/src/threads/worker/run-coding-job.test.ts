import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { place } from '../store/__fixtures__/thread-bench.js';
import { getPatch } from '../workspace/patch-artifacts.js';
import { codingBench } from './__fixtures__/coding-bench.js';

const changed = [{ path: 'src/one.txt', content: 'two\n' }];

describe('an implementer', () => {
  it('goes from new to resume on a rebuilt repository at the same place, and its patch accumulates', async () => {
    const bench = await codingBench();
    bench.writes(changed);
    const first = await bench.run(bench.job());
    expect(first).toMatchObject({
      outcome: 'implemented',
      thread: { state: 'READY' },
      patch: { changedPaths: ['src/one.txt'] },
      artifact: { changedPaths: ['src/one.txt'], resolvedFindingIds: [], validationEvidence: [] },
      usage: { inputTokens: 3, cachedInputTokens: 0, outputTokens: 2, authoritative: false },
    });
    bench.writes([{ path: 'src/two.txt', content: 'more\n' }, { path: 'build/x', content: 'x' }]);
    const second = await bench.run(
      bench.job({ mode: 'resume', expectedCheckpoint: first.thread?.checkpoint }),
    );
    expect(second.patch?.changedPaths).toEqual(['src/one.txt', 'src/two.txt']);
    expect(second.evidence['nativeId']).toBe(first.evidence['nativeId']);
    expect(bench.sessions.sent.map(({ kind }) => kind)).toEqual(['start', 'continue']);
    expect(await getPatch(bench.store, second.patch?.patchDigest ?? 'sha256:')).toBe(
      second.patch?.patch,
    );
    const [session] = bench.sessions.world.sessions.values();
    expect(session?.workingDir).toBe(join(bench.root, 'work'));
    expect(await readFile(join(bench.root, 'work/src/one.txt'), 'utf8')).toBe('two\n');
  });

  it('commits a turn that changed nothing', async () => {
    const bench = await codingBench();
    const outcome = await bench.run(bench.job());
    expect(outcome).toMatchObject({ outcome: 'no-change', patch: { patch: '', changedPaths: [] } });
    expect(outcome.artifact).toBeUndefined();
    expect((await bench.threads.inspect(place))?.state).toBe('READY');
  });
});

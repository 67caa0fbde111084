import { lstat } from 'node:fs/promises';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isCodingThreadError } from '../coding-thread-error.js';
import { breakages, breakPatch } from './__fixtures__/broken-patches.js';
import { plantProgram, spoil } from './__fixtures__/hostile-program.js';
import { anywhere, openThread, put, testBounds } from './__fixtures__/job.js';
import type { FileSpec } from './__fixtures__/repository.js';
import { build, type TortureCase, tortureCases } from './__fixtures__/torture.js';
import { expectOf } from './__fixtures__/torture-oracle.js';
import { applyPatch } from './canonical-patch.js';

/** The same cases each time; another seed and another number of them can be asked for. */
const seed = Number(process.env['HOLDFAST_TORTURE_SEED'] ?? 20_261_130);
const numRuns = Number(process.env['HOLDFAST_TORTURE_RUNS'] ?? 16);

const isThere = async (path: string) => (await lstat(path).catch(() => undefined)) !== undefined;

/** The tree that was built and a patch that makes it again and again, or the rule that refuses it. */
async function torture(given: TortureCase): Promise<string> {
  const { files, changed, rules } = expectOf(given);
  await using thread = await openThread([...given.base.values()]);
  const { program, marker } = await plantProgram(thread.place.folder);
  const workspace = await thread.rebuild();
  await build(workspace.workTree, given);
  await spoil(workspace, program);
  const derived = await thread.derive(workspace).catch((error: unknown) => error);
  expect(await isThere(marker)).toBe(false);
  if (rules.size > 0) return readRefusal(derived, rules);
  if (derived instanceof Error) throw derived;
  const tree = await thread.place.treeOf([...files.values()]);
  expect(derived).toMatchObject({ tree, outcome: changed.length > 0 ? 'changed' : 'no-change' });
  const { patch, changedPaths } = derived as { patch: string; changedPaths: readonly string[] };
  const named = changed.map((path) => Buffer.from(path, 'latin1').toString());
  expect(changedPaths.toSorted()).toEqual(named.toSorted());
  for (const _ of [1, 2, 3]) {
    const rebuilt = await thread.rebuild(patch);
    expect(rebuilt).toEqual({ ...workspace, tree });
    await spoil(rebuilt, program);
    expect(await thread.derive(rebuilt)).toEqual(derived);
  }
  expect(await isThere(marker)).toBe(false);
  return 'taken';
}

function readRefusal(error: unknown, rules: ReadonlySet<string>): string {
  if (!isCodingThreadError(error)) throw new Error(`Not refused by ${[...rules]}: ${error}`);
  const { path, rule } = error.details['evidence'] as { path: string; rule: string };
  expect([error.kind, rules]).toEqual(['patch_refused', expect.toSatisfy(() => rules.has(rule))]);
  expect(path).not.toBe('');
  return rule;
}

describe('a tortured repository', () => {
  it(`gives its tree by id over three rebuilds, or a rule that refuses it (seed ${seed})`, async () => {
    const ends = new Set<string>();
    await fc.assert(
      fc.asyncProperty(tortureCases, async (given) => {
        ends.add(await torture(given));
      }),
      { seed, numRuns, endOnFailure: true },
    );
    expect(ends).toContain('taken');
  }, 600_000);

  it(`takes a broken patch as the one form of what it makes, or says the rule (seed ${seed})`, async () => {
    await using thread = await openThread(brokenBase);
    const workspace = await thread.rebuild();
    await put(workspace.workTree, brokenChange);
    const { patch } = await thread.derive(workspace);
    const { git } = thread.place;
    const property = fc.asyncProperty(breakages, async (wanted) => {
      const broken = breakPatch(patch, wanted);
      const request = { workspace, patch: broken, bounds: testBounds, policy: anywhere };
      const applied = await applyPatch(git, request).catch((error: unknown) => error);
      if (!isCodingThreadError(applied)) expect(applied).toMatchObject({ patch: broken });
      else expect(applied.details).toMatchObject({ evidence: { rule: expect.any(String) } });
    });
    await fc.assert(property, { seed, numRuns: numRuns * 2, endOnFailure: true });
  }, 600_000);
});

const brokenBase: readonly FileSpec[] = [
  { path: 'a.txt', content: 'one\ntwo\nthree\n' },
  { path: 'd/gone', content: 'gone\n' },
  { path: 'sub', content: '1'.repeat(40), mode: '160000' },
];

const brokenChange: readonly FileSpec[] = [
  { path: 'a.txt', content: 'one\n2\nthree', mode: '100755' },
  { path: 'b', content: Uint8Array.of(0, 1, 2) },
  { path: 'd/link', content: '../a.txt', mode: '120000' },
];

import { chmod, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { anywhere, openThread, put, type TestThread, testBounds } from './__fixtures__/job.js';
import { proveCandidate } from './prove-candidate.js';
import type { Workspace } from './workspace.js';

const base = [
  { path: 'f', content: 'f\n' },
  { path: '.gitignore', content: '*.log\n' },
];

async function createCandidate(thread: TestThread) {
  const implementer = await thread.rebuild();
  await put(implementer.workTree, [{ path: 'new', content: 'new\n' }]);
  return await thread.derive(implementer);
}

function prove(thread: TestThread, workspace: Workspace, candidate: string) {
  const request = { workspace, candidate, bounds: testBounds, policy: anywhere };
  return proveCandidate(thread.place.git, request);
}

describe('proveCandidate', () => {
  it('finds a candidate unchanged, whatever a reviewer leaves in the scratch folder', async () => {
    await using thread = await openThread(base);
    const derived = await createCandidate(thread);
    const workspace = await thread.rebuild(derived.patch);
    expect(await prove(thread, workspace, derived.patch)).toEqual(derived);
    await put(workspace.scratch, [{ path: 'build/out', content: 'x' }]);
    expect(await prove(thread, workspace, derived.patch)).toEqual(derived);
  });

  it('finds out each way in which a reviewer could change it', async () => {
    await using thread = await openThread(base);
    const { patch } = await createCandidate(thread);
    const changes: readonly ((workTree: string) => Promise<unknown>)[] = [
      (workTree) => put(workTree, [{ path: 'new', content: 'NEW\n' }]),
      (workTree) => put(workTree, [{ path: 'hidden.log', content: 'ignored' }]),
      (workTree) => rm(join(workTree, 'f')),
      (workTree) => chmod(join(workTree, 'f'), 0o755),
      (workTree) => rm(join(workTree, '.git')),
    ];
    for (const change of changes) {
      const workspace = await thread.rebuild(patch);
      await change(workspace.workTree);
      const proof = prove(thread, workspace, patch);
      await expect(proof).rejects.toMatchObject({ kind: 'candidate_changed' });
    }
  });
});

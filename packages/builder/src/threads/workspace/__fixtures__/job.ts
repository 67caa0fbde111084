import { chmod, mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type CanonicalPatch, derivePatch } from '../canonical-patch.js';
import type { PathPolicy } from '../check-patch.js';
import { rebuildWorkspace } from '../rebuild-workspace.js';
import { stageBundle } from '../stage-bundle.js';
import type { PatchBounds, Workspace } from '../workspace.js';
import { type FileSpec, openTestPlace, type TestPlace } from './repository.js';

/** The jobs of one thread over one repository. */
export interface TestThread extends AsyncDisposable {
  readonly place: TestPlace;
  readonly root: string;
  readonly rebuild: (patch?: string) => Promise<Workspace>;
  readonly derive: (workspace: Workspace, limits?: Limits) => Promise<CanonicalPatch>;
}

/** What a test sets otherwise. */
export interface Limits {
  readonly bounds?: Partial<PatchBounds>;
  readonly policy?: PathPolicy;
}

export const testBounds = { maximumPatchBytes: 1024 * 1024, maximumChangedFiles: 100 };
export const anywhere: PathPolicy = { writableRoots: ['.'] };

export async function openThread(
  base: readonly FileSpec[],
  objectFormat?: 'sha1' | 'sha256',
): Promise<TestThread> {
  const place = await openTestPlace(objectFormat);
  const root = join(place.folder, 'thread');
  const { bundle, allowedPrefix, baseRevision } = await place.createBundle(base);
  const staged = await stageBundle({ bundle, allowedPrefix, folder: join(root, 'inputs') });
  return {
    place,
    root,
    rebuild: (patch) =>
      rebuildWorkspace(place.git, { root, bundle: staged, baseRevision, patch, bounds: testBounds }),
    derive: (workspace, { bounds, policy = anywhere } = {}) =>
      derivePatch(place.git, { workspace, bounds: { ...testBounds, ...bounds }, policy }),
    [Symbol.asyncDispose]: () => place[Symbol.asyncDispose](),
  };
}

/** Puts files into a work tree, as a job would. */
export async function put(workTree: string, files: readonly FileSpec[]): Promise<void> {
  for (const { path, content = '', mode } of files) {
    const target = Buffer.concat([Buffer.from(`${workTree}/`), Buffer.from(path)]);
    await mkdir(folderOf(target), {
      recursive: true,
    });
    await rm(target, { recursive: true, force: true });
    if (mode === '120000') await symlink(Buffer.from(content), target);
    else await writeFile(target, content);
    if (mode !== '120000') await chmod(target, mode === '100755' ? 0o755 : 0o644);
  }
}

/** As bytes: a name may be no text. */
function folderOf(path: Buffer): Buffer {
  return path.subarray(0, path.lastIndexOf(0x2f));
}

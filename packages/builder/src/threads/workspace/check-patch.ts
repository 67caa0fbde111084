import { findCaseCollision, foldSegment } from './fold-path.js';
import { type PatchRefusal, patchRefused } from './patch-refused.js';
import type { TreeChange, TreeEntry } from './tree-change.js';
import { leavesRoot, type TreeLinks } from './tree-links.js';

/** Where a job may change what. */
export interface PathPolicy {
  /** Relative to the repository's root, such as `packages/a`; `.` is all of it. */
  readonly writableRoots: readonly string[];
  /** Paths that nothing may touch, at any depth and in any case; {@link PROTECTED_PATHS} when absent. */
  readonly protectedPaths?: readonly string[] | undefined;
}

/** What decides how a repository is built, owned or opened: no job changes it. */
export const PROTECTED_PATHS: readonly string[] = [
  '.github/workflows',
  '.gitlab-ci.yml',
  '.circleci',
  'azure-pipelines.yml',
  'Jenkinsfile',
  'CODEOWNERS',
  '.git',
  '.env',
  'credentials',
  'secrets',
  'policy',
];

/** What a patch makes of a tree. */
export interface PatchedTree {
  readonly changes: readonly TreeChange[];
  readonly before: { readonly entries: readonly TreeEntry[]; readonly links: TreeLinks };
  readonly after: { readonly entries: readonly TreeEntry[]; readonly links: TreeLinks };
}

const ABSENT = '000000';
const GITLINK = '160000';
const LINK = '120000';
const MODES = new Set([ABSENT, LINK, '100644', '100755']);

/** Refuses a patch that changes what it may not, or makes what could lead out of the repository. */
export function checkPatch(patched: PatchedTree, policy: PathPolicy): void {
  const refusal = findRefusal(patched, policy);
  if (refusal) throw patchRefused(refusal);
}

function findRefusal(patched: PatchedTree, policy: PathPolicy): PatchRefusal | undefined {
  for (const change of patched.changes) {
    const refusal = judgeMode(change) ?? judgePlace(change.path, policy);
    if (refusal) return refusal;
  }
  return findEscape(patched) ?? findCollision(patched);
}

function judgeMode({ path, oldMode, newMode }: TreeChange): PatchRefusal | undefined {
  if (oldMode === GITLINK || newMode === GITLINK) return { path, rule: 'gitlink' };
  return MODES.has(newMode) ? undefined : { path, rule: 'file-mode', detail: newMode };
}

function judgePlace(path: string, policy: PathPolicy): PatchRefusal | undefined {
  const isInside = policy.writableRoots.some(
    (root) => root === '.' || path === root || path.startsWith(`${root}/`),
  );
  if (!isInside) return { path, rule: 'writable-roots' };
  const segments = path.split('/').map(foldSegment);
  const found = (policy.protectedPaths ?? PROTECTED_PATHS).find((guarded) =>
    hasRun(segments, guarded.split('/').map(foldSegment)),
  );
  return found === undefined ? undefined : { path, rule: 'protected-path', detail: found };
}

/** Whether a run of segments stands anywhere in a path. */
function hasRun(segments: readonly string[], run: readonly string[]): boolean {
  return segments.some((_, start) => run.every((segment, at) => segments[start + at] === segment));
}

/** A link that was there may mean another place once what it leads through has changed. */
function findEscape({ changes, before, after }: PatchedTree): PatchRefusal | undefined {
  const changed = new Set(changes.map(({ path }) => path));
  for (const [path, target] of after.links) {
    if (!leavesRoot(path, after.links)) continue;
    const hasEver = !changed.has(path) && leavesRoot(path, before.links);
    if (!hasEver) return { path, rule: 'link-leaves-root', detail: target };
  }
  return undefined;
}

function findCollision({ before, after }: PatchedTree): PatchRefusal | undefined {
  const path = findCaseCollision(
    before.entries.map((entry) => entry.path),
    after.entries.map((entry) => entry.path),
  );
  return path === undefined ? undefined : { path, rule: 'case-collision' };
}

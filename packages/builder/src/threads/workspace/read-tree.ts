import type { Git, GitPlace } from './git.js';
import { readText, readTreeListing, type TreeEntry } from './tree-change.js';
import type { TreeLinks } from './tree-links.js';

/** A tree as its listing and its links tell it. */
export interface ListedTree {
  readonly entries: readonly TreeEntry[];
  readonly links: TreeLinks;
}

/** What stands in a tree, with where its links lead. */
export async function listTree(
  git: Git,
  { place, tree, signal }: ListTreeRequest,
): Promise<ListedTree> {
  const args = ['ls-tree', '-r', '-z', '--full-tree', tree];
  const entries = readTreeListing(await git.run({ args, place, signal }));
  const found = entries.filter(({ mode }) => mode === '120000');
  if (found.length === 0) return { entries, links: new Map() };
  const input = found.map(({ id }) => `${id}\n`).join('');
  const output = await git.run({ args: ['cat-file', '--batch'], place, input, signal });
  const targets = readBatch(output);
  return {
    entries,
    links: new Map(found.map(({ path }, at) => [path, targets[at] ?? UNREADABLE])),
  };
}

/** Which tree, and where. */
export interface ListTreeRequest {
  readonly place: GitPlace;
  readonly tree: string;
  readonly signal?: AbortSignal | undefined;
}

/** A target that is no text could lead through a name that is none: it counts as one that leaves the root. */
const UNREADABLE = '/';

/** Reads the contents out of `git cat-file --batch`: a line with the size, the bytes, a line feed. */
function readBatch(output: Buffer): readonly string[] {
  const contents: string[] = [];
  for (let start = 0; start < output.length; ) {
    const end = output.indexOf(0x0a, start);
    const size = Number(output.toString('latin1', start, end).split(' ')[2]);
    contents.push(readText(output.subarray(end + 1, end + 1 + size)) ?? UNREADABLE);
    start = end + 1 + size + 1;
  }
  return contents;
}

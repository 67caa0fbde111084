/** The symbolic links of a tree: where each stands, and its target. */
export type TreeLinks = ReadonlyMap<string, string>;

/** As many as a kernel follows. */
const MAXIMUM_LINKS = 40;

/** Whether a link leads out of the root, through other links of the tree too; one that never ends counts as out. */
export function leavesRoot(path: string, links: TreeLinks): boolean {
  const place: string[] = [];
  const ahead = path.split('/').toReversed();
  for (let followed = 0; ahead.length > 0; ) {
    const segment = ahead.pop() ?? '';
    if (segment === '' || segment === '.') continue;
    if (segment === '..') {
      if (place.pop() === undefined) return true;
      continue;
    }
    const target = links.get([...place, segment].join('/'));
    if (target === undefined) {
      place.push(segment);
      continue;
    }
    followed += 1;
    if (target.startsWith('/') || target.includes('\\') || followed > MAXIMUM_LINKS) return true;
    ahead.push(...target.split('/').toReversed());
  }
  return false;
}

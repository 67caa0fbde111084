/** What file systems pass over in a name. */
const IGNORED = /[\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]/gu;

/** A name as the most forgiving file system reads it: no case, one form of each letter, no trailing dots or blanks. */
export function foldSegment(segment: string): string {
  const [name = ''] = segment.split(':');
  return foldCase(name.replaceAll(IGNORED, '')).replace(/[. ]+$/u, '');
}

function foldCase(text: string): string {
  return text.normalize('NFC').toUpperCase().toLowerCase().normalize('NFC');
}

/** The first path, folders included, that is new and that a file system without case takes for another one. */
export function findCaseCollision(
  before: readonly string[],
  after: readonly string[],
): string | undefined {
  const known = new Set(before.flatMap(withFolders));
  const spellings = new Map<string, string>();
  const all = new Set(after.flatMap(withFolders));
  for (const path of [...all].toSorted((a, b) => Number(known.has(b)) - Number(known.has(a)))) {
    const folded = foldCase(path);
    if (spellings.has(folded) && !known.has(path)) return path;
    spellings.set(folded, path);
  }
  return undefined;
}

function withFolders(path: string): readonly string[] {
  const segments = path.split('/');
  return segments.map((_, index) => segments.slice(0, index + 1).join('/'));
}

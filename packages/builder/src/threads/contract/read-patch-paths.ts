/** The paths a patch touches, as its own headers tell them. */
export interface PatchPaths {
  /** Every path that the patch writes or deletes. */
  readonly changed: readonly string[];
  /** Where a renamed file stood: it is gone, and some listings name it too. */
  readonly renamedFrom: readonly string[];
}

/** Reads the paths of a patch as git writes it, with the prefixes `a/` and `b/`. What is between the headers is not looked at. */
export function readPatchPaths(patch: string): PatchPaths {
  const files = splitHeaders(patch).map(readHeader);
  return {
    changed: [...new Set(files.map(({ path }) => path))].sort(),
    renamedFrom: files.flatMap(({ from }) => from ?? []),
  };
}

interface PatchedFile {
  readonly path: string;
  readonly from?: string | undefined;
}

/** The header lines of each file. A line of a hunk begins with another character than a header's. */
function splitHeaders(patch: string): readonly (readonly string[])[] {
  const headers: string[][] = [];
  let isHeader = false;
  for (const line of patch.split('\n')) {
    if (line.startsWith('diff --git ')) {
      headers.push([line]);
      isHeader = true;
    } else if (line.startsWith('@@ ') || line === 'GIT binary patch') isHeader = false;
    else if (isHeader) headers.at(-1)?.push(line);
  }
  return headers;
}

function readHeader([first = '', ...lines]: readonly string[]): PatchedFile {
  const find = (start: string) => lines.find((line) => line.startsWith(start))?.slice(start.length);
  const renamed = find('rename to ') ?? find('copy to ');
  const from = find('rename from ');
  if (renamed !== undefined) return { path: unquote(renamed), from: from && unquote(from) };
  const sides = [find('+++ '), find('--- ')].map((side) => side?.replace(/\t$/, ''));
  const side = sides.find((path) => path !== undefined && path !== '/dev/null');
  return { path: withoutPrefix(unquote(side ?? secondHalf(first))) };
}

/** Both halves of the first line name the same path here: a rename says so on lines of its own. */
function secondHalf(line: string): string {
  const rest = line.slice('diff --git '.length);
  return rest.slice(Math.floor(rest.length / 2) + 1);
}

function withoutPrefix(path: string): string {
  return path.replace(/^[ab]\//, '');
}

const ESCAPES: Readonly<Record<string, number>> = {
  ...{ a: 7, b: 8, t: 9, n: 10, v: 11, f: 12, r: 13 },
  ...{ '"': 34, '\\': 92 },
};

/** A name in quotes is bytes, escaped as in C. */
function unquote(name: string): string {
  if (!name.startsWith('"')) return name;
  const parts = name.slice(1, -1).match(/\\[0-7]{3}|\\.|[^\\]+/g) ?? [];
  const bytes = parts.map((part) => {
    if (!part.startsWith('\\')) return Buffer.from(part);
    const code = ESCAPES[part.slice(1)] ?? Number.parseInt(part.slice(1), 8);
    return Buffer.from([code & 0xff]);
  });
  return Buffer.concat(bytes).toString('utf8');
}

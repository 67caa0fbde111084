import { patchRefused } from './patch-refused.js';

/** One path that differs between two trees. A mode is git's, such as `100755`; `000000` where nothing stands. */
export interface TreeChange {
  readonly path: string;
  readonly oldMode: string;
  readonly newMode: string;
  readonly newId: string;
}

/** One path of a tree. */
export interface TreeEntry {
  readonly path: string;
  readonly mode: string;
  readonly id: string;
}

/** Reads `git diff-tree -r -z --raw --no-renames --no-abbrev`. */
export function readRawDiff(output: Uint8Array): readonly TreeChange[] {
  const fields = readFields(output);
  const changes: TreeChange[] = [];
  for (let index = 0; index + 1 < fields.length; index += 2) {
    const [oldMode = '', newMode = '', , newId = ''] = readPath(fields[index]).slice(1).split(' ');
    changes.push({ path: readPath(fields[index + 1]), oldMode, newMode, newId });
  }
  return changes;
}

/** Reads `git ls-tree -r -z --full-tree`. A name that is no text is left out: no change can name it. */
export function readTreeListing(output: Uint8Array): readonly TreeEntry[] {
  return readFields(output).flatMap((field) => {
    const tab = field.indexOf('\t');
    const [mode = '', , id = ''] = field.subarray(0, tab).toString('latin1').split(' ');
    const path = readText(field.subarray(tab + 1));
    return path === undefined ? [] : [{ path, mode, id }];
  });
}

/** The fields of an output in which each ends with a zero byte. */
export function readFields(output: Uint8Array): readonly Buffer[] {
  const bytes = Buffer.from(output.buffer, output.byteOffset, output.byteLength);
  const fields: Buffer[] = [];
  for (let start = 0; start < bytes.length; ) {
    const end = bytes.indexOf(0, start);
    const stop = end === -1 ? bytes.length : end;
    fields.push(bytes.subarray(start, stop));
    start = stop + 1;
  }
  return fields;
}

/** The text of bytes exactly, a byte order mark included; `undefined` where they are no UTF-8. */
export function readText(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

function readPath(field: Buffer | undefined): string {
  const path = field && readText(field);
  if (path !== undefined) return path;
  throw patchRefused({ path: field?.toString('latin1') ?? '', rule: 'path-encoding' });
}

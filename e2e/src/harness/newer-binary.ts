import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** How a CLI is made to look newer than it is. */
export type NewerForm = 'says_so' | 'is_rewritten';

/**
 * Writes a program that is the CLI at `binary`, but newer than any: a script that says so where it is asked, or, for a CLI
 * that tells its version in its protocol too, a copy with another version in it, byte for byte as long.
 */
export async function writeNewerBinary(
  { binary, version }: { readonly binary: string; readonly version: string },
  form: NewerForm,
  folder: string,
): Promise<string> {
  const path = join(folder, 'newer-cli');
  const newer = version.replace(/^(\d+\.)\d/, '$19');
  const content =
    form === 'is_rewritten'
      ? replaceAll(await readFile(binary), version, newer)
      : `#!/bin/sh
if [ "$1" = "--version" ]; then echo '${newer}'; else exec '${binary.replaceAll("'", "'\\''")}' "$@"; fi
`;
  await writeFile(path, content, { mode: 0o755 });
  return path;
}

function replaceAll(bytes: Buffer, from: string, to: string): Buffer {
  for (let at = bytes.indexOf(from); at !== -1; at = bytes.indexOf(from, at + to.length)) {
    bytes.write(to, at);
  }
  return bytes;
}

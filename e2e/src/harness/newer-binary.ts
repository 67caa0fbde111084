import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Writes a program that is the CLI at `binary`, but says of itself that it is newer than any. */
export async function writeNewerBinary(
  binary: string,
  version: string,
  folder: string,
): Promise<string> {
  const path = join(folder, 'newer-cli');
  const quoted = `'${binary.replaceAll("'", "'\\''")}'`;
  const newer = version.replace(/^(\d+)\.(\d+)/, (_all, major, minor) => {
    return `${major}.${Number(minor) + 900}`;
  });
  const script = `#!/bin/sh
if [ "$1" = "--version" ]; then ${quoted} --version | sed 's/${version.replaceAll('.', '\\.')}/${newer}/'
else exec ${quoted} "$@"
fi
`;
  await writeFile(path, script, { mode: 0o755 });
  return path;
}

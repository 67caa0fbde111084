import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { RealSubject } from '../harness/real-subject.js';

/** A CLI behind a shell script whose lines act only while they are switched on. */
export interface SwitchedCli {
  readonly switchOn: () => Promise<void>;
  readonly switchOff: () => Promise<void>;
  /** The arguments of every launch so far, `--version` left out. */
  readonly launches: () => Promise<readonly string[]>;
}

/** Makes the subject start the binary through such a script. The lines run before the CLI and may change `$@`. */
export async function switchCli(
  subject: RealSubject,
  binary: string,
  lines: readonly string[] = [],
): Promise<SwitchedCli> {
  const path = join(subject.place.root, 'switched-cli');
  const script = [
    '#!/bin/sh',
    `[ "$1" = --version ] || echo "$*" >> '${path}.log'`,
    `if [ -e '${path}.on' ]; then`,
    ':',
    ...lines,
    'fi',
    `exec '${binary}' "$@"`,
    '',
  ].join('\n');
  await writeFile(path, script, { mode: 0o755 });
  subject.useBinary(path);
  return {
    switchOn: () => writeFile(`${path}.on`, ''),
    switchOff: () => rm(`${path}.on`, { force: true }),
    launches: async () =>
      (await readFile(`${path}.log`, 'utf8').catch(() => ''))
        .split('\n')
        .filter((line) => line !== ''),
  };
}

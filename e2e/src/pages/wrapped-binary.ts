import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { RealSubject } from '../harness/real-subject.js';

/** Puts shell lines before the CLI is started, and makes the subject start it through them. */
export async function wrapBinary(
  subject: RealSubject,
  binary: string,
  lines: readonly string[],
): Promise<void> {
  const path = join(subject.place.root, 'wrapped-cli');
  const script = ['#!/bin/sh', ...lines, `exec '${binary}' "$@"`, ''].join('\n');
  await writeFile(path, script, { mode: 0o755 });
  subject.useBinary(path);
}

import { delimiter, join } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { findProvider } from '@holdfast/provider-core';
import { execa } from 'execa';
import type { CliUnderTest } from './cli-under-test.js';

/** The CLI of a provider that is on a person's PATH. */
export async function findOwnCli(provider: string): Promise<CliUnderTest> {
  const definition = findProvider(provider);
  if (!definition) throw new Error(`There is no provider ${provider}.`);
  const { binary, readVersion } = definition;
  for (const folder of (process.env['PATH'] ?? '').split(delimiter)) {
    const path = join(folder, binary);
    const { stdout, exitCode } = await execa(path, ['--version'], { reject: false });
    const version = readVersion(stdout ?? '');
    if (exitCode === 0 && version) return { provider, version, binary: path };
  }
  throw new Error(`${binary} was not found on PATH. Install it, or name another --provider.`);
}

/** Shows what will be done, and asks on the terminal unless it was allowed beforehand. */
export async function confirmOnTerminal(notice: string, isAllowed: boolean): Promise<boolean> {
  process.stderr.write(`${notice}\n`);
  if (isAllowed) return true;
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  const answer = await terminal.question('Type yes to go on: ');
  terminal.close();
  return answer.trim() === 'yes';
}

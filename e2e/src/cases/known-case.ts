import type { Way } from '@holdfast/provider-core';
import type { CliUnderTest } from '../harness/cli-under-test.js';
import { RealSubject } from '../harness/real-subject.js';
import type { RealSubjectOptions } from '../harness/real-subject-options.js';

/** A real CLI, driven in one of its ways. */
export interface CliInWay extends CliUnderTest {
  readonly way: Way;
}

/** One row of docs/cases.md on a real CLI: its condition is brought about, and what must follow is asserted. */
export interface KnownCase {
  /** Begins with the ids of its rows. */
  readonly name: string;
  /** Every provider when absent. */
  readonly providers?: readonly string[];
  /** Every way of the provider when absent. */
  readonly ways?: readonly Way[];
  /** Sets up folders of its own and leaves nothing behind. */
  readonly run: (cli: CliInWay) => Promise<void>;
}

export const hello = 'Remember the codeword heron.';
export const question = 'What is the codeword?';

/** The public functions of provider-core over a real CLI. */
export function createSubject(
  cli: CliInWay,
  options: Omit<RealSubjectOptions, 'cli' | 'layer' | 'way'> = {},
): Promise<RealSubject> {
  return RealSubject.create({ cli, layer: 'provider-core', way: cli.way, ...options });
}

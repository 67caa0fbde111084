import type { CliUnderTest } from '../harness/cli-under-test.js';
import { RealSubject } from '../harness/real-subject.js';
import type { RealSubjectOptions } from '../harness/real-subject-options.js';

/** One row of docs/cases.md on a real CLI: its condition is brought about, and what must follow is asserted. */
export interface KnownCase {
  /** Begins with the ids of its rows. */
  readonly name: string;
  /** Every provider when absent. */
  readonly providers?: readonly string[];
  /** Sets up folders of its own and leaves nothing behind. */
  readonly run: (cli: CliUnderTest) => Promise<void>;
}

export const hello = 'Remember the codeword heron.';
export const question = 'What is the codeword?';

/** The public functions of provider-core over a real CLI. */
export function createSubject(
  cli: CliUnderTest,
  options: Omit<RealSubjectOptions, 'cli' | 'layer'> = {},
): Promise<RealSubject> {
  return RealSubject.create({ cli, layer: 'provider-core', ...options });
}

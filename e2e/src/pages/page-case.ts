import type { CliUnderTest } from '../harness/cli-under-test.js';

/** One page of a CLI, brought up on purpose, and what must become of it. */
export interface PageCase {
  readonly name: string;
  /** Sets up folders of its own and leaves nothing behind. */
  readonly run: (cli: CliUnderTest) => Promise<void>;
}

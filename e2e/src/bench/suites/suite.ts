import type { CliUnderTest } from '../../harness/cli-under-test.js';
import type { BenchRow } from '../bench-row.js';

/** What a suite is told. */
export interface SuiteRequest {
  readonly cli: CliUnderTest;
  /** The bench program itself, which is the model as well. */
  readonly program: string;
  /** Rounds of a warm turn; cold rows take a third of them, at least three. */
  readonly rounds: number;
  readonly isQuick: boolean;
  readonly wants: (row: string) => boolean;
  readonly report: (line: string) => void;
}

/** Some rows of the bench, measured together because they share what they set up. */
export interface Suite {
  readonly rows: readonly string[];
  /** Absent where the suite measures no CLI. */
  readonly provider?: string;
  readonly run: (request: SuiteRequest) => Promise<readonly BenchRow[]>;
}

/** Rounds of a row whose every round starts a CLI. */
export function coldRounds(rounds: number): number {
  return Math.max(3, Math.ceil(rounds / 3));
}

/** Lengths of history, in turns. Real ones are compacted: the size counts, 15 MB of transcript at 10,000 turns. */
export function historySizes({ isQuick }: SuiteRequest): readonly number[] {
  return isQuick ? [10] : [10, 1_000, 10_000];
}

import type { CliUnderTest } from '../harness/cli-under-test.js';

/** One way to one model that the corpus goes through. */
export interface FuzzCell {
  readonly provider: string;
  readonly way: 'tmux' | 'structured' | 'per_turn' | 'api';
  /** Absent for a model API. */
  readonly cli?: CliUnderTest | undefined;
}

/** How the cell stands in the report. */
export function cellName({ provider, way, cli }: FuzzCell): string {
  return [provider, way, cli?.version].filter(Boolean).join(' ');
}

/** Whether one of the names is the cell's, with or without a version. */
export function isNamed(cell: FuzzCell, names: readonly string[]): boolean {
  return names.includes(`${cell.provider} ${cell.way}`) || names.includes(cellName(cell));
}

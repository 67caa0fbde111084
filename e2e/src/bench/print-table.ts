import type { BenchRow } from './bench-row.js';

/** The rows as lines of a Markdown table. */
export function formatTable(rows: readonly BenchRow[]): string {
  const cells = [
    ['row', 'CLI', 'ours / probe', 'ours', 'probe', 'ratio', 'A/A band', 'target', 'met', 'n'],
    ['---', '---', '---', '---:', '---:', '---:', '---', '---', '---', '---:'],
    ...rows.map(formatRow),
  ];
  return cells.map((line) => `| ${line.join(' | ')} |`).join('\n');
}

function formatRow(row: BenchRow): string[] {
  const { provider, cliVersion, what, note, unit, ours, probe, ratio, band, target, met } = row;
  const amount = (value: number | null) => (value === null ? '' : `${value} ${unit}`);
  const limit = target && `${target.of === 'ratio' ? '' : 'ours '}≤ ${target.atMost}`;
  return [
    row.row,
    provider === '-' ? '' : `${provider} ${cliVersion}`,
    note === undefined ? what : `${what} (${note})`,
    amount(ours),
    amount(probe),
    ratio === null ? '' : String(ratio),
    band === null ? '' : band.join('–'),
    limit ?? '',
    met === null ? '' : met ? 'yes' : '**no**',
    String(row.rounds),
  ];
}

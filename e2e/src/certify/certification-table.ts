import { readFile, writeFile } from 'node:fs/promises';
import { certificationIds, requirements } from '@holdfast/provider-core/certification';
import type { CertificationRow } from './certification-row.js';

const START = '<!-- certification-table: written by `npm run certify -- --write` -->';
const END = '<!-- /certification-table -->';

/** Writes the table between its marks in the page; the rest of the page is left as it is. */
export async function writeCertificationTable(
  page: string,
  rows: readonly CertificationRow[],
): Promise<void> {
  const text = await readFile(page, 'utf8');
  const [before, rest] = text.split(START);
  const after = rest?.split(END)[1];
  if (before === undefined || after === undefined) {
    throw new Error(`${page} lacks the marks "${START}" and "${END}".`);
  }
  await writeFile(page, `${before}${START}\n\n${renderTable(rows)}\n${END}${after}`);
}

/** One line a certification, one column a CLI version; a cell says what passed in which layers. */
function renderTable(rows: readonly CertificationRow[]): string {
  const columns = [...new Set(rows.map(columnOf))].sort();
  const seen = new Set(rows.map(({ certification }) => certification));
  const ids = certificationIds.filter((id) => seen.has(id));
  const lines = ids.map((id) => {
    const cells = columns.map((column) =>
      renderCell(rows.filter((row) => row.certification === id && columnOf(row) === column)),
    );
    return `| \`${id}\` | ${requirements[id].behaviour} | ${cells.join(' | ')} |`;
  });
  return [
    `| Certification | Behaviour | ${columns.join(' | ')} |`,
    `| --- | --- | ${columns.map(() => '---').join(' | ')} |`,
    ...lines,
    '',
  ].join('\n');
}

function columnOf({ provider, cliVersion, transport }: CertificationRow): string {
  return `${provider} ${cliVersion}, ${transport}`;
}

function renderCell(rows: readonly CertificationRow[]): string {
  if (rows.length === 0) return 'not claimed';
  const failed = rows.filter(({ result }) => result === 'failed').map(({ layer }) => layer);
  if (failed.length > 0) return `failed (${failed.join(', ')})`;
  return `passed, ${[...new Set(rows.map(({ evidence }) => evidence))].join(', ')}`;
}

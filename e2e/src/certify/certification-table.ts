import { readFile, writeFile } from 'node:fs/promises';
import {
  type Claims,
  casesOf,
  certificationIds,
  requirements,
} from '@holdfast/provider-core/certification';
import { renderHistoryTable } from './api/history-table.js';
import type { CertificationRow } from './certification-row.js';

const START = '<!-- certification-table: written by `npm run certify -- --write` -->';
const END = '<!-- /certification-table -->';

/** One column of the table: a provider, one of its ways, a version of its CLI, and what is claimed for them. */
export interface TableColumn {
  readonly provider: string;
  readonly cliVersion: string;
  readonly claims: Claims;
}

/** Writes the tables between their marks in the page; the rest of the page is left as it is. */
export async function writeCertificationTable(
  page: string,
  columns: readonly TableColumn[],
  rows: readonly CertificationRow[],
): Promise<void> {
  const text = await readFile(page, 'utf8');
  const [before, rest] = text.split(START);
  const after = rest?.split(END)[1];
  if (before === undefined || after === undefined) {
    throw new Error(`${page} lacks the marks "${START}" and "${END}".`);
  }
  const providers = [...new Set(columns.map(({ provider }) => provider))];
  const tables = providers.map((provider) => {
    const own = columns.filter((column) => column.provider === provider);
    return `### ${provider}\n\n${renderVerbs(own)}\n${renderTable(own, rows)}`;
  });
  const nodes = [...new Set(rows.map(({ node }) => node))].sort().join(', ');
  const told = `Driven by Node ${nodes}.\n\n${renderBehaviours()}\n${[...tables, renderHistoryTable(rows)].join('\n')}`;
  await writeFile(page, `${before}${START}\n\n${told}\n${END}${after}`);
}

/** What each certification shows, and which publicly reported cases it covers. */
function renderBehaviours(): string {
  const lines = certificationIds.map(
    (id) => `| \`${id}\` | ${requirements[id].behaviour} | ${casesOf(id).join(', ')} |`,
  );
  return ['| Certification | Behaviour | Cases |', '| --- | --- | --- |', ...lines, ''].join('\n');
}

/** What is claimed, verb by verb. */
function renderVerbs(columns: readonly TableColumn[]): string {
  const verbs = Object.keys(columns[0]?.claims.capabilities.verbs ?? {});
  const lines = verbs.map((verb) => {
    const cells = columns.map(({ claims }) => {
      const claim = new Map<string, unknown>(Object.entries(claims.capabilities.verbs)).get(verb);
      return claim ? 'yes' : 'no';
    });
    return `| \`${verb}\` | ${cells.join(' | ')} |`;
  });
  return renderLines('Verb', columns, lines);
}

/** One line a certification, one column a way and version; a cell says what was seen. */
function renderTable(columns: readonly TableColumn[], rows: readonly CertificationRow[]): string {
  const seen = new Set(rows.map(({ id }) => id));
  const lines = certificationIds
    .filter((id) => seen.has(id))
    .map((id) => {
      const cells = columns.map((column) => {
        const own = rows.filter((row) => row.id === id && isOf(row, column));
        return renderCell(own, requirements[id].requiredBy(column.claims));
      });
      return `| \`${id}\` | ${cells.join(' | ')} |`;
    });
  return renderLines('Certification', columns, lines);
}

function renderLines(
  first: string,
  columns: readonly TableColumn[],
  lines: readonly string[],
): string {
  const names = columns.map(({ cliVersion, claims }) => `${claims.way} ${cliVersion}`);
  return [
    `| ${first} | ${names.join(' | ')} |`,
    `| --- | ${columns.map(() => '---').join(' | ')} |`,
    ...lines,
    '',
  ].join('\n');
}

function isOf(row: CertificationRow, { provider, cliVersion, claims }: TableColumn): boolean {
  return row.provider === provider && row.cliVersion === cliVersion && row.way === claims.way;
}

function renderCell(rows: readonly CertificationRow[], isClaimed: boolean): string {
  if (!isClaimed) return 'not claimed';
  if (rows.length === 0) return 'not run';
  const failed = rows.filter(({ status }) => status === 'failed').map(({ layer }) => layer);
  if (failed.length > 0) return `failed (${[...new Set(failed)].join(', ')})`;
  const tries = rows.some(({ attempts }) => attempts === 2) ? ' at the second try' : '';
  return `passed${tries}, ${[...new Set(rows.map(({ evidence }) => evidence))].join(', ')}`;
}

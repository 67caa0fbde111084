import { fileURLToPath } from 'node:url';
import { listModelProviders } from '@holdfast/provider-core';
import { casesOf, certificationIds } from '@holdfast/provider-core/certification';
import { listHistoryJobs, proveHistoryOnce } from './certify/api/prove-history.js';
import { runHistoryFaults } from './certify/api/run-history-faults.js';
import { runBuilderCertifications } from './certify/builder/run-builder-certifications.js';
import type { CertificationOutcome, CertificationRow } from './certify/certification-row.js';
import { writeCertificationTable } from './certify/certification-table.js';
import { claimsUnderTest, listJobs } from './certify/list-jobs.js';
import { proveOnce } from './certify/prove-once.js';
import { readClisUnderTest } from './harness/cli-under-test.js';
import { endWithCount, readCommandLine } from './harness/command-line.js';
import { readJsonLines } from './harness/read-json-lines.js';
import {
  type Attempt,
  countVerdicts,
  printAttempt,
  runWithRetry,
} from './harness/run-with-retry.js';
import { runPlantedFaults } from './planted/run-planted-faults.js';

/**
 * Runs every certification that a claim makes binding, on the real CLIs, in every way they are driven, against
 * provider-core and through agent. `--json` prints one row each; `--planted` runs the faults that the proofs must catch;
 * `--builder` proves the post-step workflow under a whole builder instead.
 */
const options = readCommandLine();
const isOfModelApi = listModelProviders().includes(options.provider ?? '');
const clis =
  isOfModelApi || options.builder
    ? []
    : await readClisUnderTest({
        provider: options.provider,
        cliVersion: options['cli-version'],
      });

if (options.builder) {
  const { flaky, ...count } = await runBuilderCertifications(options);
  endWithCount({ ...count, ...(options.retry === '1' && { flaky }) });
} else if (options.planted) {
  const ofApis = await runHistoryFaults(options);
  const ofClis = await runPlantedFaults(clis, options);
  endWithCount({
    passed: ofApis.passed + ofClis.passed,
    failed: ofApis.failed + ofClis.failed,
  });
} else if (options.from !== undefined) {
  const rows = await readRows(options.from);
  await writeTable(rows);
  const failed = rows.filter(({ status }) => status === 'failed').length;
  endWithCount({ passed: rows.length - failed, failed });
} else {
  const jobs = [
    ...listJobs(clis, options).map((job) => () => proveOnce(job)),
    ...listHistoryJobs(options).map((job) => () => proveHistoryOnce(job)),
  ];
  const attempts = await runWithRetry(jobs, {
    width: Number(options.jobs),
    retry: options.retry,
    run: (prove) => prove(),
    report,
  });
  const rows = attempts.map(rowOf);
  if (options.write) await writeTable(rows);
  if (options.json) console.log(JSON.stringify(total(rows)));
  const { flaky, ...count } = countVerdicts(attempts);
  endWithCount({ ...count, ...(options.retry === '1' && { flaky }) });
}

/** The rows that earlier runs printed with `--json`, each once; what was run again counts as it came out last. */
async function readRows(path: string): Promise<readonly CertificationRow[]> {
  const rows = await readJsonLines<Partial<CertificationRow>>(path);
  const newest = new Map<string, CertificationRow>();
  for (const row of rows) {
    if (row.id === undefined) continue;
    const { id, provider, way, cliVersion, node, layer } = row;
    newest.set([id, provider, way, cliVersion, node, layer].join(), row as CertificationRow);
  }
  return [...newest.values()];
}

async function writeTable(rows: readonly CertificationRow[]): Promise<void> {
  const page = fileURLToPath(new URL('../../docs/certification.md', import.meta.url));
  const columns = clis.flatMap((cli) =>
    claimsUnderTest(cli).map((claims) => ({
      provider: cli.provider,
      cliVersion: cli.version,
      claims,
    })),
  );
  await writeCertificationTable(page, columns, rows);
}

/** How many certifications were seen to pass everywhere they ran, and how many reported cases they cover. */
function total(rows: readonly CertificationRow[]) {
  const failed = new Set(rows.filter(({ status }) => status === 'failed').map(({ id }) => id));
  const passed = [...new Set(rows.map(({ id }) => id))].filter((id) => !failed.has(id));
  const cases = new Set(certificationIds.filter((id) => passed.includes(id)).flatMap(casesOf));
  const { length: rowCount } = rows;
  return { total: true, rows: rowCount, certifications: passed.length, cases: cases.size };
}

function report(attempt: Attempt<CertificationOutcome>): void {
  const row = rowOf(attempt);
  const { id, provider, way, cliVersion, layer, ms } = row;
  printAttempt(attempt, {
    title: `${provider} ${cliVersion} ${way} ${layer}: ${id}`,
    seconds: ms / 1000,
    ...(options.json && { json: JSON.stringify(row) }),
    describe: (error) => (error instanceof Error ? (error.stack ?? error.message) : String(error)),
  });
}

/** The row of an attempt, which says what came before it. */
function rowOf({ outcome, attempts, firstError }: Attempt<CertificationOutcome>): CertificationRow {
  if (attempts === 1) return outcome.row;
  return { ...outcome.row, attempts, firstError: String(firstError) };
}

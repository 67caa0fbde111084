import { fileURLToPath } from 'node:url';
import type { CertificationOutcome } from './certify/certification-row.js';
import { writeCertificationTable } from './certify/certification-table.js';
import { listJobs } from './certify/list-jobs.js';
import { proveOnce } from './certify/prove-once.js';
import { readClisUnderTest } from './harness/cli-under-test.js';
import { endWithCount, readCommandLine } from './harness/command-line.js';
import { runJobs } from './harness/run-jobs.js';
import { runPlantedFaults } from './planted/run-planted-faults.js';

/**
 * Runs every certification that a claim makes binding, on the real CLIs in real tmux, against provider-core and through
 * agent. `--json` prints one row each; `--planted` runs the faults that the proofs must catch instead.
 */
const options = readCommandLine();
const clis = await readClisUnderTest({
  provider: options.provider,
  cliVersion: options['cli-version'],
});

if (options.planted) {
  endWithCount(await runPlantedFaults(clis, options));
} else {
  const jobs = listJobs(clis, options);
  const outcomes = await runJobs(jobs, Number(options.jobs), async (job) => {
    const outcome = await proveOnce(job);
    report(outcome);
    return outcome;
  });
  const rows = outcomes.map(({ row }) => row);
  if (options.write) {
    const page = fileURLToPath(new URL('../../docs/certification.md', import.meta.url));
    await writeCertificationTable(page, rows);
  }
  const failed = rows.filter(({ result }) => result === 'failed').length;
  endWithCount({ passed: rows.length - failed, failed });
}

function report({ row, seconds, error }: CertificationOutcome): void {
  if (options.json) console.log(JSON.stringify(row));
  else {
    const { provider, cliVersion, layer, certification, result } = row;
    const verdict = result === 'passed' ? 'ok    ' : 'FAILED';
    console.log(
      `${verdict}  ${provider} ${cliVersion} ${layer}: ${certification} (${seconds.toFixed(1)} s)`,
    );
  }
  if (error !== undefined) {
    const { certification, provider, cliVersion, layer } = row;
    const detail = error instanceof Error ? (error.stack ?? error.message) : String(error);
    process.stderr.write(`${provider} ${cliVersion} ${layer} ${certification}: ${detail}\n`);
  }
}

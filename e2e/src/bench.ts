import { fileURLToPath } from 'node:url';
import { readBenchOptions } from './bench/bench-options.js';
import type { BenchRow } from './bench/bench-row.js';
import { describeMachine } from './bench/machine.js';
import { formatTable } from './bench/print-table.js';
import { listSuites } from './bench/suites/index.js';
import { SERVE_MODEL, serveTimingModel } from './bench/timing-model.js';
import { readClisUnderTest } from './harness/cli-under-test.js';

/**
 * Measures ours against the smallest script that does the same, in alternation, and prints ratios with their A/A band.
 * `--json` prints one object. A missed target is told and fails nothing; only a run that breaks does.
 */
if (process.argv[2] === SERVE_MODEL) await serveTimingModel();
else await bench();

async function bench(): Promise<void> {
  const options = readBenchOptions();
  const program = fileURLToPath(import.meta.url);
  const clis = await readClisUnderTest(options);
  const rows: BenchRow[] = [];
  for (const { name, suite, cli } of listSuites(clis, options.wants)) {
    report(name);
    try {
      const measured = await suite.run({ ...options, cli, program, report });
      for (const row of measured) report(`  ${row.row}  ${row.what}: ${row.ratio ?? row.ours}`);
      rows.push(...measured.filter(({ row }) => options.wants(row)));
    } catch (error) {
      report(`  broke: ${error instanceof Error ? error.stack : String(error)}`);
      process.exitCode = 1;
    }
  }
  if (options.json) console.log(JSON.stringify({ rows, machine: describeMachine() }));
  else console.log(formatTable(rows));
  const missed = rows
    .filter(({ met }) => met === false)
    .map(({ row, provider }) => `${row} (${provider})`);
  report(missed.length === 0 ? 'No target was missed.' : `Missed: ${missed.join(', ')}.`);
}

function report(line: string): void {
  process.stderr.write(`${line}\n`);
}

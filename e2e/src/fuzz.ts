import { findProvider, listModelProviders, listWays } from '@holdfast/provider-core';
import { cellName, type FuzzCell } from './fuzz/fuzz-cell.js';
import type { FuzzTally } from './fuzz/fuzz-tally.js';
import { runFuzzCell } from './fuzz/run-fuzz-cell.js';
import { readClisUnderTest } from './harness/cli-under-test.js';
import { endWithCount, readCommandLine } from './harness/command-line.js';
import { runJobs } from './harness/run-jobs.js';

/** The same corpus through every way to every model: what was given is what arrived, or it was refused with a reason. */
const options = readCommandLine();
const runs = { runs: Number(options.runs), seed: Number(options.seed) };
const cells = (await listCells()).filter(
  ({ provider, way }) =>
    (options.provider === undefined || options.provider === provider) &&
    (options.way === undefined || options.way.split(',').includes(way)),
);
const tallies = await runJobs(cells, Number(options.jobs), async (cell) => {
  const tally = await runFuzzCell(cell, runs);
  print(cell, tally);
  return tally;
});
const faults = tallies.flatMap((tally) => tally.faults).length;
const classes = tallies.flatMap((tally) => [...tally.classes.values()]);
const passed = classes.reduce((sum, { accepted, refused }) => sum + accepted + refused, 0) - faults;
endWithCount({ passed: Math.max(0, passed), failed: faults });

async function listCells(): Promise<readonly FuzzCell[]> {
  const clis = await readClisUnderTest({ cliVersion: options['cli-version'] });
  const ofClis = clis.flatMap((cli) => {
    const definition = findProvider(cli.provider);
    return definition
      ? listWays(definition).map((way) => ({ provider: cli.provider, way, cli }))
      : [];
  });
  const ofModels = listModelProviders().map((provider) => ({ provider, way: 'api' as const }));
  return [...ofClis, ...ofModels];
}

function print(cell: FuzzCell, { classes: byClass, faults: found }: FuzzTally): void {
  const name = cellName(cell);
  const rows = [...byClass].map(([kind, { accepted, refused, reasons }]) => ({
    cell: name,
    class: kind,
    accepted,
    refused,
    reasons: [...reasons],
  }));
  if (options.json) {
    for (const row of rows) console.log(JSON.stringify(row));
    for (const fault of found) console.log(JSON.stringify({ cell: name, fault }));
    return;
  }
  for (const { class: kind, accepted, refused, reasons } of rows) {
    const share = `${accepted}/${accepted + refused} accepted`;
    const why = reasons.length === 0 ? '' : `  refused: ${reasons.join(', ')}`;
    console.log(`${name.padEnd(32)}${kind.padEnd(24)}${share}${why}`);
  }
  for (const fault of found) console.log(`FAILED  ${name}: ${fault}`);
}

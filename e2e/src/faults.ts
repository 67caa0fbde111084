import { findProvider } from '@holdfast/provider-core';
import { readCell } from './faults/fault-cell.js';
import { planKills } from './faults/plan-kills.js';
import { describeKill, runSessionPlan, type SessionOutcome } from './faults/run-session-plan.js';
import { findComplaints, tallyOutcomes } from './faults/tally.js';
import { readClisUnderTest } from './harness/cli-under-test.js';
import { endWithCount, readCommandLine } from './harness/command-line.js';
import { runJobs } from './harness/run-jobs.js';

/**
 * Kills the service, the pane, the CLI, its server, tmux and the machine at every step and window, and shows that each
 * message was delivered once. `--kills N`, `--seed S`; `--json` ends with one object; `--cell` repeats one kill, such as
 * `machine:at_request:20` or `submitted`.
 */
const options = readCommandLine();
const clis = await readClisUnderTest({
  provider: options.provider,
  cliVersion: options['cli-version'],
});
const plans = planKills({
  kills: Number(options.kills),
  seed: Number(options.seed),
  clis,
  onlyCell: options.cell === undefined ? undefined : readCell(options.cell),
  isServed: ({ provider }) => findProvider(provider)?.transports.tmux?.kind === 'served_pane',
});

const outcomes = await runJobs(plans, Number(options.jobs), async (plan) => {
  const outcome = await runSessionPlan(plan);
  report(`${plan.cli.provider} ${plan.cli.version}`, outcome);
  return outcome;
});
const tally = tallyOutcomes(outcomes);
const complaints = findComplaints(tally);
for (const complaint of complaints) process.stderr.write(`${complaint}\n`);
if (options.json) console.log(JSON.stringify(tally));
else console.log(`${JSON.stringify(tally, undefined, 2)}`);
if (options.json) process.exitCode = complaints.length === 0 ? 0 : 1;
else endWithCount({ passed: tally.recovered, failed: complaints.length });

function report(cli: string, { kills, doubled, missing, leftover }: SessionOutcome): void {
  const lines = [
    ...kills.map(describeKill),
    ...doubled.map((what) => `DOUBLED  ${what}`),
    ...missing.map((what) => `LOST  ${what}`),
    ...leftover.map((what) => `LEFT OVER  ${what}`),
  ];
  process.stderr.write(`${lines.map((line) => `${cli}: ${line}\n`).join('')}`);
}

import { findProvider, listModelProviders } from '@holdfast/provider-core';
import { listClaims } from '@holdfast/provider-core/certification';
import { planApiKills } from './faults/api/plan-api-kills.js';
import { runApiPlan } from './faults/api/run-api-plan.js';
import { readCell } from './faults/fault-cell.js';
import { type Driver, planKills } from './faults/plan-kills.js';
import { describeKill, runSessionPlan, type SessionOutcome } from './faults/run-session-plan.js';
import { findComplaints, tallyOutcomes } from './faults/tally.js';
import { runWorkflowFaults } from './faults/workflows/run-workflow-faults.js';
import { type CliUnderTest, readClisUnderTest } from './harness/cli-under-test.js';
import { endWithCount, readCommandLine } from './harness/command-line.js';
import { runJobs } from './harness/run-jobs.js';

/**
 * Kills the service, the pane, the CLI, its server, tmux and the machine at every step and window, in every way a CLI is
 * driven, and the service of an API agent at every moment of its tool loop; shows that each message was delivered once.
 * `--workflows` does the same to a service that runs workflows. `--kills N`, `--seed S`; `--json` ends with one object; `--cell` repeats one kill, such as `machine:at_request:20`,
 * `submitted` or `api:tool-called`.
 */
const options = readCommandLine();
if (options.workflows) {
  await runWorkflowFaults(options);
  process.exit();
}
const { provider, way, seed } = options;
const onlyCell = options.cell === undefined ? undefined : readCell(options.cell);
const ways = way?.split(',');
const isOfModelApi = listModelProviders().includes(provider ?? '');
const isOfApis = onlyCell?.kind !== 'step' && onlyCell?.kind !== 'window' && isWanted('api');
const drivers = isOfModelApi || onlyCell?.kind === 'api' ? [] : await findDrivers();
const kills = shareKills(Number(options.kills));
const cliPlans = planKills({ kills: kills.cli, seed: Number(seed), drivers, onlyCell });
const apiPlans = planApiKills({
  kills: kills.api,
  seed: Number(seed),
  provider,
  onlyCell: onlyCell?.kind === 'api' ? onlyCell.cell : undefined,
});
const jobs = [
  ...apiPlans.map((plan) => ({ name: plan.api.provider, run: () => runApiPlan(plan) })),
  ...cliPlans.map((plan) => ({
    name: `${plan.cli.provider} ${plan.cli.version} ${plan.way}`,
    run: () => runSessionPlan(plan),
  })),
];

const outcomes = await runJobs(jobs, Number(options.jobs), async ({ name, run }) => {
  const outcome = await run();
  report(name, outcome);
  return outcome;
});
const tally = tallyOutcomes(outcomes);
const { byStep, byWindow, byApiMoment, byWay } = tally;
const isNarrow = [provider, way, options.cell, options['cli-version']].some((one) => one);
const complaints = findComplaints(tally, isNarrow ? [] : [byStep, byWindow, byApiMoment, byWay]);
for (const complaint of complaints) process.stderr.write(`${complaint}\n`);
if (options.json) console.log(JSON.stringify(tally));
else console.log(`${JSON.stringify(tally, undefined, 2)}`);
if (options.json) process.exitCode = complaints.length === 0 ? 0 : 1;
else endWithCount({ passed: tally.recovered, failed: complaints.length });

function isWanted(one: string): boolean {
  return ways === undefined || ways.includes(one);
}

/** Every version in a terminal, and the newest of each CLI in every other way too. */
async function findDrivers(): Promise<readonly Driver[]> {
  const asked = { provider, cliVersion: options['cli-version'] };
  const clis = await readClisUnderTest(asked);
  const isNewest = (cli: CliUnderTest) =>
    clis.findLast((other) => other.provider === cli.provider) === cli;
  return clis.flatMap((cli) => {
    const definition = findProvider(cli.provider);
    const claimed = definition ? listClaims(definition, cli.version) : [];
    return claimed
      .filter((claims) => isWanted(claims.way) && (claims.way === 'tmux' || isNewest(cli)))
      .map((claims) => ({ cli, way: claims.way, isServed: claims.driver === 'served_pane' }));
  });
}

/** The API agents have fifteen moments, the CLIs nineteen, and a first turn for each way besides. */
function shareKills(total: number): { readonly cli: number; readonly api: number } {
  const hasApis = isOfApis && (provider === undefined || isOfModelApi);
  if (!hasApis) return { cli: total, api: 0 };
  if (drivers.length === 0) return { cli: 0, api: total };
  const api = Math.round((total * 3) / 8);
  return { cli: total - api, api };
}

function report(name: string, { kills, doubled, missing, leftover }: SessionOutcome): void {
  const lines = [
    ...kills.map(describeKill),
    ...doubled.map((what) => `DOUBLED  ${what}`),
    ...missing.map((what) => `LOST  ${what}`),
    ...leftover.map((what) => `LEFT OVER  ${what}`),
  ];
  process.stderr.write(`${lines.map((line) => `${name}: ${line}\n`).join('')}`);
}

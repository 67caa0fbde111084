import { listModelProviders } from '@holdfast/provider-core';
import { readClisUnderTest } from '../../harness/cli-under-test.js';
import { endWithCount, type readCommandLine } from '../../harness/command-line.js';
import { runJobs } from '../../harness/run-jobs.js';
import { type PlannedRun, planWorkflowKills } from './plan-workflow-kills.js';
import { recordWrites } from './record-writes.js';
import { runWorkflowPlan, type WorkflowOutcome } from './run-workflow-plan.js';
import { nameWorkflowCell, sooner, type WorkflowCell } from './workflow-cell.js';
import { nameDriver, type WorkflowDriver } from './workflow-subject.js';
import { complaintsOf, findWorkflowComplaints, tallyWorkflows } from './workflow-tally.js';

/** The API agent that stands for all of them: their loop is one. */
const API_DRIVER = 'anthropic';

/** How often a kill whose moment did not come is aimed at again. */
const MAX_SHOTS = 3;

/** Records an undisturbed run of each driver, then leads runs through kills, and tells what became of them. */
export async function runWorkflowFaults(
  options: ReturnType<typeof readCommandLine>,
): Promise<void> {
  const width = Number(options.jobs);
  const drivers = await findDrivers(options.provider);
  const recordings = await runJobs(drivers, width, async (driver) => {
    const recording = await recordWrites(driver);
    report(recording.outcome);
    return recording;
  });
  const plan = { kills: Number(options.kills), seed: Number(options.seed) };
  // Lanes end in any order; the plan must not depend on it.
  const ordered = drivers.flatMap((driver) => recordings.filter((one) => one.driver === driver));
  const runs = planWorkflowKills(ordered, plan);
  const later = await runJobs(runs, width, runUntilHit);
  const outcomes = [...recordings.map(({ outcome }) => outcome), ...later.flat()];
  const tally = tallyWorkflows(
    outcomes,
    runs.flatMap(({ cells }) => cells),
  );
  const complaints = findWorkflowComplaints(tally);
  for (const complaint of complaints) process.stderr.write(`${complaint}\n`);
  console.log(options.json ? JSON.stringify(tally) : JSON.stringify(tally, undefined, 2));
  if (options.json) process.exitCode = complaints.length === 0 ? 0 : 1;
  else endWithCount({ passed: tally.recovered, failed: complaints.length });
}

/** The newest of each CLI, in a terminal, and one agent on a model API. */
async function findDrivers(provider: string | undefined): Promise<readonly WorkflowDriver[]> {
  const isApi = listModelProviders().includes(provider ?? '');
  const api: WorkflowDriver = { kind: 'api', provider: isApi && provider ? provider : API_DRIVER };
  if (isApi) return [api];
  const clis = await readClisUnderTest({ provider });
  const newest = clis.filter(
    (cli) => clis.findLast((other) => other.provider === cli.provider) === cli,
  );
  const drivers = newest.map((cli): WorkflowDriver => ({ kind: 'cli', cli }));
  return provider === undefined ? [...drivers, api] : drivers;
}

/**
 * A kill whose moment did not come, since another one changed the run, is aimed at in a run that is new and has no other: then
 * nothing comes before it that did not when the moment was recorded.
 */
async function runUntilHit({ recording, cells }: PlannedRun): Promise<readonly WorkflowOutcome[]> {
  const { driver, outcome: usual } = recording;
  const outcomes: WorkflowOutcome[] = [];
  let aims: readonly (readonly WorkflowCell[])[] = [cells];
  for (let shot = 1; shot <= MAX_SHOTS && aims.length > 0; shot += 1) {
    const missed: WorkflowCell[] = [];
    for (const aim of aims) {
      const outcome = await runWorkflowPlan({ driver, cells: aim, usualMs: usual.ms });
      report(outcome);
      outcomes.push(outcome);
      missed.push(...outcome.missed);
    }
    aims = missed.map((cell) => [sooner(cell)]);
  }
  return outcomes;
}

function report(outcome: WorkflowOutcome): void {
  const { driver, fired, missed, ms } = outcome;
  const complaints = complaintsOf(outcome);
  const lines = [
    ...fired.map((cell) => `killed  ${nameWorkflowCell(cell)}`),
    ...missed.map((cell) => `missed  ${nameWorkflowCell(cell)}`),
    ...complaints,
    `${complaints.length === 0 ? 'good' : 'BAD'} after ${ms} ms`,
  ];
  process.stderr.write(`${lines.map((line) => `${nameDriver(driver)}: ${line}\n`).join('')}`);
}

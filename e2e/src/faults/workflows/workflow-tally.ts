import type { WorkflowOutcome } from './run-workflow-plan.js';
import { pointOf, type WorkflowCell } from './workflow-cell.js';

/** What the runs of workflows came to. */
export interface WorkflowTally {
  readonly kills: number;
  /** Kills of runs that ended with nothing to complain of. */
  readonly recovered: number;
  readonly lost: number;
  readonly doubled: number;
  readonly undelivered: number;
  readonly locksLeft: number;
  readonly leftover: number;
  readonly byPoint: Readonly<Record<string, number>>;
}

const complaintNames = ['lost', 'doubled', 'undelivered', 'locksLeft', 'leftover'] as const;

/** What is wrong with one run, each in words. */
export function complaintsOf(outcome: WorkflowOutcome): readonly string[] {
  return complaintNames.flatMap((name) => outcome[name].map((what) => `${name}  ${what}`));
}

/** Counts the outcomes; a planned kill that never fired stands with 0. */
export function tallyWorkflows(
  outcomes: readonly WorkflowOutcome[],
  planned: readonly WorkflowCell[],
): WorkflowTally {
  const count = (name: (typeof complaintNames)[number]) =>
    outcomes.reduce((total, outcome) => total + outcome[name].length, 0);
  const fired = outcomes.flatMap((outcome) => outcome.fired);
  const good = outcomes.filter((outcome) => complaintsOf(outcome).length === 0);
  const points = [...new Set(planned.map(pointOf))].sort();
  return {
    kills: fired.length,
    recovered: good.reduce((total, outcome) => total + outcome.fired.length, 0),
    lost: count('lost'),
    doubled: count('doubled'),
    undelivered: count('undelivered'),
    locksLeft: count('locksLeft'),
    leftover: count('leftover'),
    byPoint: Object.fromEntries(
      points.map((point) => [point, fired.filter((cell) => pointOf(cell) === point).length]),
    ),
  };
}

/** What keeps the runs from being a success, in words; a point that was planned and never hit is one. */
export function findWorkflowComplaints(tally: WorkflowTally): readonly string[] {
  const counts = complaintNames
    .filter((name) => tally[name] > 0)
    .map((name) => `${tally[name]} ${name}`);
  const empty = Object.entries(tally.byPoint)
    .filter(([, count]) => count === 0)
    .map(([point]) => `no kill at ${point}`);
  return [...counts, ...empty, ...(tally.kills === 0 ? ['nothing was killed'] : [])];
}

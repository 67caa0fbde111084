import { type ApiCell, apiCells } from './api/api-cell.js';
import { type FaultCell, type Step, steps, type Window, windows } from './fault-cell.js';
import type { SessionOutcome } from './run-session-plan.js';

/** What a fault run came to. */
export interface Tally {
  readonly kills: number;
  readonly lost: number;
  readonly doubled: number;
  readonly unsettled: number;
  readonly leftover: number;
  readonly recovered: number;
  readonly typedErrors: number;
  readonly byStep: Readonly<Record<Step, number>>;
  readonly byWindow: Readonly<Record<Window, number>>;
  readonly byApiMoment: Readonly<Record<ApiCell, number>>;
  readonly byWay: Readonly<Record<string, number>>;
}

/** Counts the sessions' outcomes. Only what really was killed counts as a kill. */
export function tallyOutcomes(outcomes: readonly SessionOutcome[]): Tally {
  const all = outcomes.flatMap(({ kills }) => kills);
  const fired = all.filter((kill) => kill.fired);
  const sum = (count: (outcome: SessionOutcome) => number) =>
    outcomes.reduce((total, outcome) => total + count(outcome), 0);
  return {
    kills: fired.length,
    lost:
      all.filter(({ result }) => result === 'lost').length + sum(({ missing }) => missing.length),
    doubled: sum(({ doubled }) => doubled.length),
    unsettled: all.filter(({ result }) => result === 'unsettled').length,
    leftover: sum(({ leftover }) => leftover.length),
    recovered: fired.filter(({ result }) => result === 'recovered').length,
    typedErrors: all.reduce((total, { errors }) => total + errors.length, 0),
    byStep: countBy(
      steps,
      fired.flatMap(({ cell }) => readStep(cell)),
    ),
    byWindow: countBy(
      windows,
      fired.flatMap(({ cell }) => readWindow(cell)),
    ),
    byApiMoment: countBy(
      apiCells,
      fired.flatMap(({ cell }) => (cell.kind === 'api' ? [cell.cell] : [])),
    ),
    byWay: countBy(
      ['tmux', 'structured', 'per_turn', 'api'],
      fired.map(({ way }) => way),
    ),
  };
}

/**
 * What keeps a run from being a success, in words; empty when nothing does. `needed` are the counts in which nothing may
 * be empty: a run that is narrowed down does not come to all of them.
 */
export function findComplaints(
  tally: Tally,
  needed: readonly Readonly<Record<string, number>>[],
): readonly string[] {
  const counts = (['lost', 'doubled', 'unsettled', 'leftover'] as const)
    .filter((name) => tally[name] > 0)
    .map((name) => `${tally[name]} ${name}`);
  const empty = needed
    .flatMap((count) => Object.entries(count))
    .filter(([, count]) => count === 0)
    .map(([name]) => `no kill at ${name}`);
  const none = tally.kills === 0 ? ['nothing was killed'] : [];
  return [...counts, ...empty, ...none];
}

function readStep(cell: FaultCell): Step[] {
  return cell.kind === 'step' ? [cell.step] : [];
}

function readWindow(cell: FaultCell): Window[] {
  return cell.kind === 'window' ? [cell.window] : [];
}

function countBy<Name extends string>(
  names: readonly Name[],
  seen: readonly Name[],
): Record<Name, number> {
  const entries = names.map((name) => [name, seen.filter((other) => other === name).length]);
  return Object.fromEntries(entries);
}

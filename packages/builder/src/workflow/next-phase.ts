import type { ContinuationState, ExecutionOutcome, PhaseRecord } from './continuation-state.js';
import { findHold, findWait } from './phase-wait.js';
import { isSettled, PHASES, type Phase } from './phases.js';

/** How an execution may end. */
export type EndOutcome = Exclude<ExecutionOutcome, 'open'>;

/** What is to be done with an execution now. */
export type NextStep =
  | { readonly type: 'run'; readonly phase: Phase }
  /** Nothing before an instant: a limit's end, or a retry's. */
  | { readonly type: 'wait'; readonly phase: Phase; readonly until: string; readonly why: string }
  /** Nothing until a person did something and says so. */
  | { readonly type: 'park'; readonly phase: Phase; readonly why: string }
  /** The work is over before its end: these are never run. */
  | {
      readonly type: 'skip';
      readonly phases: readonly Phase[];
      readonly because: 'stopped' | 'failed';
    }
  /** These are due and not on disk yet. */
  | { readonly type: 'owe'; readonly phases: readonly Phase[] }
  | { readonly type: 'end'; readonly outcome: EndOutcome }
  | { readonly type: 'ended'; readonly outcome: EndOutcome };

/** What decides beside the state itself. */
export interface NextFacts {
  /** What the definition owes, in whatever order; nothing for an execution without one. */
  readonly owed: readonly Phase[];
  /** Milliseconds since 1970. */
  readonly now: number;
  readonly isStopped: boolean;
}

/** Which phase runs next, if any. Pure, and total over every state a file can hold. */
export function decideNext(
  state: ContinuationState,
  { owed, now, isStopped }: NextFacts,
): NextStep {
  if (state.outcome !== 'open') return { type: 'ended', outcome: state.outcome };
  const isOpen = (phase: Phase) => {
    const record = state.phases[phase];
    return record !== undefined && !isSettled(record.status);
  };
  const work = PHASES.filter((phase) => phase !== 'auto_notification' && isOpen(phase));
  const because = hasFailed(state) ? 'failed' : isStopped ? 'stopped' : undefined;
  if (because && work.length > 0) return { type: 'skip', phases: work, because };
  const mainWork = work.find(isMainWork);
  if (mainWork) return judge(mainWork, state.phases[mainWork], now);
  const missing = owed.filter((phase) => state.phases[phase] === undefined);
  const left = missing.filter((phase) => phase !== 'auto_notification');
  if (because && left.length > 0) return { type: 'skip', phases: left, because };
  if (missing.length > 0) return { type: 'owe', phases: missing };
  const next = PHASES.find(isOpen);
  return next
    ? judge(next, state.phases[next], now)
    : { type: 'end', outcome: judgeOutcome(state) };
}

/** How an execution ends as its phases stand. What comes after the main work never fails it. Pure. */
export function judgeOutcome(state: ContinuationState): EndOutcome {
  if (wasStopped(state)) return 'stopped';
  return hasFailed(state) ? 'failed' : 'completed';
}

/** The kind of error a phase is skipped with when its execution was stopped. */
export const STOPPED_KIND = 'execution_stopped';

function wasStopped({ phases }: ContinuationState): boolean {
  return PHASES.some((phase) => phases[phase]?.errorJson?.kind === STOPPED_KIND);
}

function hasFailed({ phases }: ContinuationState): boolean {
  return PHASES.some((phase) => isMainWork(phase) && phases[phase]?.status === 'failed');
}

function isMainWork(phase: Phase): boolean {
  return phase === 'main_execution' || phase === 'pre_validation';
}

function judge(phase: Phase, record: PhaseRecord | undefined, now: number): NextStep {
  const held = findHold(record);
  if (held !== undefined) return { type: 'park', phase, why: held };
  const { suspended } = record ?? {};
  const until = findWait(record, now);
  // What is no instant holds nothing up.
  if (until === undefined || !(Date.parse(until) > now)) return { type: 'run', phase };
  const why = suspended ? `${suspended.reason}: ${suspended.detail}` : 'it is tried again then';
  return { type: 'wait', phase, until, why };
}

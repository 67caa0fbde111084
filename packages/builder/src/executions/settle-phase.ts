import type { ErrorJson } from '@holdfast/agent';
import { backOffMs } from '../engine/back-off.js';
import { instantAfter } from '../instant-after.js';
import { clipError } from '../workflow/clip-error.js';
import type { ContinuationState, PhaseRecord, Suspension } from '../workflow/continuation-state.js';
import { type FailureVerdict, judgeFailure } from '../workflow/judge-failure.js';
import { type EndOutcome, STOPPED_KIND } from '../workflow/next-phase.js';
import { isPostStep, listOwedPhases } from '../workflow/phase-plan.js';
import { changePhase, errorJsonOf, owePhases, SETTLED } from '../workflow/phase-record.js';
import { isSettled, PHASES, type Phase } from '../workflow/phases.js';
import type { StepDefinition } from '../workflow/workflow-definition.js';
import { AttemptsExhaustedError, ExecutionStoppedError } from '../workflow/workflow-error.js';
import type { WorkflowEventBody } from '../workflow/workflow-event.js';
import type { LiveExecution } from './live-execution.js';
import { type PhaseRun, recordOf } from './phase-run.js';

const DEFAULT_MAX_ATTEMPTS = 5;

/** Begins one try of a phase: the attempt is on disk before anything is done. A phase that has no try left is failed. */
export async function beginPhase(run: PhaseRun): Promise<'begun' | 'exhausted'> {
  const { live, phase } = run;
  const record = recordOf(run);
  if (record.attempt >= maxAttemptsOf(run)) {
    const last = record.error ?? 'the process that ran it died';
    await failPhase(run, errorJsonOf(new AttemptsExhaustedError(record.attempt, last)));
    return 'exhausted';
  }
  const attempt = record.attempt + 1;
  await live.write(
    (state, at) =>
      changePhase(state, phase, {
        status: isPostStep(phase) ? 'waiting_for_lock' : 'running',
        attempt,
        handle: record.handle ?? (isPostStep(phase) ? directHandle(phase, state) : undefined),
        startedAt: record.startedAt ?? at,
        lease: live.owner,
        notBefore: undefined,
        updatedAt: at,
      }),
    [{ type: 'phase_started', phase, attempt }],
  );
  return 'begun';
}

/** What a phase in the execution's own session goes on with stands in its record before any wait. */
function directHandle(phase: Phase, state: ContinuationState): PhaseRecord['handle'] {
  return phase === 'kb_review' || phase === 'direct_learning' ? state.handle : undefined;
}

function maxAttemptsOf({ found }: PhaseRun): number {
  return found.step?.maxAttempts ?? DEFAULT_MAX_ATTEMPTS;
}

/** Writes down what a failed try means: a wait, another try later, or the end of the phase. */
export async function settleFailure(run: PhaseRun, error: unknown): Promise<void> {
  const { context, live, phase } = run;
  context.logger?.warn(
    { execution_id: live.executionId, phase, err: error },
    'phase not completed',
  );
  const verdict = judgeFailure(error);
  const { attempt } = recordOf(run);
  if (verdict.type === 'suspend') return await suspend(run, error, verdict);
  if (verdict.type === 'fail') return await failPhase(run, errorJsonOf(error));
  if (attempt < maxAttemptsOf(run)) return await scheduleRetry(run, error);
  const { message } = errorJsonOf(error);
  await failPhase(run, errorJsonOf(new AttemptsExhaustedError(attempt, message)));
}

async function suspend(
  run: PhaseRun,
  error: unknown,
  { reason, until }: Extract<FailureVerdict, { readonly type: 'suspend' }>,
): Promise<void> {
  const { live, phase } = run;
  const { message } = errorJsonOf(error);
  const suspended: Suspension = {
    reason,
    detail: clipError(message),
    until: reason === 'auth_required' ? undefined : findEnd(run, until),
  };
  await live.write(
    (state, at) => {
      const attempt = Math.max(0, (state.phases[phase]?.attempt ?? 0) - 1);
      return changePhase(state, phase, { suspended, attempt, lease: undefined, updatedAt: at });
    },
    [{ type: 'phase_suspended', phase, suspension: suspended }],
  );
}

/** The end of the wait, as it was told; where it was not, or is over and nothing changed, a growing one of our own. */
function findEnd(run: PhaseRun, until: string | undefined): string {
  if (until !== undefined && Date.parse(until) > run.context.clock.now()) return until;
  return instantAfter(run.context.clock, backOffMs(countSuspensions(run) + 1));
}

function countSuspensions({ live, phase }: PhaseRun): number {
  const own = live.log.events.filter((event) => 'phase' in event && event.phase === phase);
  const since = own.slice(own.findLastIndex(({ type }) => PROGRESS.has(type)) + 1);
  return since.filter(({ type }) => type === 'phase_suspended').length;
}

const PROGRESS: ReadonlySet<string> = new Set([
  'phase_completed',
  'phase_failed',
  'phase_retry_scheduled',
]);

async function scheduleRetry(run: PhaseRun, error: unknown): Promise<void> {
  const { live, phase } = run;
  const { attempt } = recordOf(run);
  const notBefore = instantAfter(run.context.clock, backOffMs(attempt));
  const errorJson = errorJsonOf(error);
  await live.write(
    (state, at) =>
      changePhase(state, phase, {
        notBefore,
        error: clipError(errorJson.message),
        errorJson,
        suspended: undefined,
        lease: undefined,
        updatedAt: at,
      }),
    [{ type: 'phase_retry_scheduled', phase, attempt, notBefore, error: errorJson }],
  );
}

/** The phase has failed. With the main work fails all that comes after it but the news of it, in the same write. */
export async function failPhase(
  { live, phase, found }: PhaseRun,
  errorJson: ErrorJson,
): Promise<void> {
  const error = clipError(errorJson.message);
  await live.write(
    (before, at) => {
      const failed = { ...SETTLED, status: 'failed', error, errorJson, updatedAt: at } as const;
      const state = changePhase(before, phase, failed);
      if (phase !== 'main_execution' && phase !== 'pre_validation') return state;
      return endWork(state, { step: found.step, at });
    },
    failedEvents(phase, errorJson),
  );
}

/** What is told of a phase that has failed. Pure. */
export function failedEvents(phase: Phase, error: ErrorJson): readonly WorkflowEventBody[] {
  const failed = { type: 'phase_failed', phase, error } as const;
  if (phase !== 'pre_validation' || error.kind !== 'validation_failed') return [failed];
  const feedback = error.message;
  return [{ type: 'pre_validation_failed', feedback, willRetry: false }, failed];
}

interface EndWork {
  readonly step: StepDefinition | undefined;
  readonly at: string;
  /** Set when the execution was stopped. */
  readonly errorJson?: ErrorJson | undefined;
  readonly phases?: readonly Phase[] | undefined;
}

/** Nothing of the work is run any more; the notification is due. Pure. */
function endWork(
  state: ContinuationState,
  { step, at, errorJson, phases }: EndWork,
): ContinuationState {
  const open = PHASES.filter((phase) => {
    const record = state.phases[phase];
    return phase !== 'auto_notification' && record && !isSettled(record.status);
  });
  const why = errorJson ? { errorJson, error: clipError(errorJson.message) } : {};
  const skipped = { ...SETTLED, ...why, status: 'skipped', updatedAt: at } as const;
  const all = [...new Set([...open, ...(phases ?? [])])];
  const next = all.reduce((one, phase) => changePhase(one, phase, skipped), state);
  const owed = listOwedPhases(step, state).filter((phase) => phase === 'auto_notification');
  return owePhases(next, owed, at);
}

/** Skips what is left of the work, since it failed or was stopped. */
export async function skipPhases(
  live: LiveExecution,
  {
    step,
    phases,
    stop,
  }: {
    readonly step: StepDefinition | undefined;
    readonly phases: readonly Phase[];
    /** Why it was stopped, where it was. */
    readonly stop: string | undefined;
  },
): Promise<void> {
  const errorJson =
    stop === undefined ? undefined : errorJsonOf(new ExecutionStoppedError(live.executionId, stop));
  await live.write((state, at) => endWork(state, { step, at, errorJson, phases }));
}

/** Why an execution did not complete. */
export function findEndError({ phases }: ContinuationState): ErrorJson | undefined {
  const records = PHASES.map((phase) => phases[phase]);
  const stopped = records.find((record) => record?.errorJson?.kind === STOPPED_KIND);
  const failed = [phases.main_execution, phases.pre_validation].find(
    (record) => record?.status === 'failed',
  );
  return (stopped ?? failed)?.errorJson;
}

/** The last write of an execution. */
export async function endExecution(live: LiveExecution, outcome: EndOutcome): Promise<void> {
  const error = outcome === 'completed' ? undefined : findEndError(live.state);
  await live.write(
    (state) => ({ ...state, outcome }),
    [{ type: 'execution_ended', outcome, error }],
  );
}

import { isTurnError } from '@holdfast/agent';
import type { Job, JobContext, JobHandler, JobOutcome } from '../engine/job-engine.js';
import { instantAfter } from '../instant-after.js';
import type { Outbox } from '../notifications/outbox.js';
import type { ContinuationState, PhaseRecord } from '../workflow/continuation-state.js';
import { removeAbandonedTickets } from '../workflow/inspect-learning-lock.js';
import { decideNext, type NextStep } from '../workflow/next-phase.js';
import { type FoundStep, findStep, isPostStep, listOwedPhases } from '../workflow/phase-plan.js';
import { changePhase, owePhases } from '../workflow/phase-record.js';
import { isSettled, PHASES, type Phase } from '../workflow/phases.js';
import { DEFAULT_LOCK } from '../workflow/with-learning-lock.js';
import { isCodingStep } from '../workflow/workflow-definition.js';
import { UnknownWorkflowError } from '../workflow/workflow-error.js';
import { agentNotRegistered } from './create-execution-agent.js';
import { listOpenChildren } from './execution-children.js';
import type { ExecutionContext } from './execution-context.js';
import { decodeExecutionJob } from './execution-job.wire.js';
import { readExecutionId } from './execution-key.js';
import { findState } from './execution-state.js';
import { type LiveExecution, openExecution } from './live-execution.js';
import { createState } from './open-state.js';
import { type PhaseRun, recordOf } from './phase-run.js';
import { runAutoNotification } from './run-auto-notification.js';
import { cancelCodingStep } from './run-coding-step.js';
import { runMainExecution } from './run-main-execution.js';
import { runPostStep } from './run-post-step.js';
import { runPreValidation } from './run-pre-validation.js';
import { beginPhase, endExecution, settleFailure, skipPhases } from './settle-phase.js';
import { stopExecution } from './stop-execution.js';
import { findStop, watchStop } from './stop-fence.js';
import { tellWhatWasWritten } from './tell-what-was-written.js';

/**
 * The handler of the queue of executions: goes on with one where its state says it is, phase by phase, until it has
 * ended or has to wait. Called again after a crash it does nothing twice.
 */
export function createExecutionHandler(context: ExecutionContext, outbox: Outbox): JobHandler {
  return async (job, jobContext) => {
    try {
      return await driveExecution({ context, outbox, job, jobContext });
    } catch (error) {
      // A file that cannot be used waits for a person; it was reported, and nothing of it is overwritten.
      if (!isTurnError(error) || error.kind !== 'state_unusable') throw error;
      if (error.reason !== 'damaged' && error.reason !== 'newer_format') throw error;
      return { state: 'parked', reason: error.message };
    }
  };
}

interface DriveRequest {
  readonly context: ExecutionContext;
  readonly outbox: Outbox;
  readonly job: Job;
  readonly jobContext: JobContext;
}

async function driveExecution(request: DriveRequest): Promise<JobOutcome> {
  const { context, job, jobContext } = request;
  const { executionId, request: begun } = decodeExecutionJob(job.payload);
  const key = readExecutionId(executionId);
  if (begun && !(await findState(context.store, key))) {
    await createState(context, { ...begun, key });
  }
  const live = await openExecution(context, key, { letGo: jobContext.signal });
  if (live === 'absent') return { state: 'done' };
  if (live === 'busy') return later(context, 'another process has it');
  await using _live = live;
  await tellWhatWasWritten(live);
  await tellRecovered(live);
  const outcome = await driveToEnd(request, live);
  if (live.state.outcome !== 'open') {
    await giveUpPlace(context, live.state);
    context.notices.tellEnded(executionId);
  }
  return outcome;
}

/** A crash may have left a place in the line for the learning lock, which nobody comes back for. */
async function giveUpPlace(
  { store, workflows, logger }: ExecutionContext,
  state: ContinuationState,
): Promise<void> {
  if (!PHASES.some((phase) => isPostStep(phase) && state.phases[phase])) return;
  const name = findStep(workflows, state).workflow?.learningLock ?? DEFAULT_LOCK;
  try {
    await removeAbandonedTickets(store, name, async (id) => id !== state.executionId);
  } catch (error) {
    // It holds nobody up: those who are not there are passed over.
    logger?.warn({ lock: name, err: error }, 'a place at a learning lock not tidied');
  }
}

/** Tells which phase a crash cut off, once. */
async function tellRecovered(live: LiveExecution): Promise<void> {
  const { state, log } = live;
  const phase = PHASES.find((one) => wasCutOff(state.phases[one]));
  if (!phase || state.outcome !== 'open') return;
  const last = log.events.findLast((event) => 'phase' in event && event.phase === phase);
  if (last?.type !== 'recovery_queued') await log.append({ type: 'recovery_queued', phase });
}

/** A phase that somebody still stands in for, or that recovery found. */
function wasCutOff(record: PhaseRecord | undefined): boolean {
  if (!record || isSettled(record.status) || record.status === 'pending') return false;
  return record.status === 'recovery_queued' || record.lease !== undefined;
}

async function driveToEnd(request: DriveRequest, live: LiveExecution): Promise<JobOutcome> {
  for (;;) {
    const outcome = await takeStep(request, live);
    if (outcome) return outcome;
  }
}

/** One decision, and what follows from it; an outcome when nothing more is to be done now. */
async function takeStep(
  request: DriveRequest,
  live: LiveExecution,
): Promise<JobOutcome | undefined> {
  const { context, jobContext } = request;
  if (jobContext.signal.aborted) return { state: 'later', reason: 'the engine stopped' };
  if (!jobContext.isCurrent() || !live.isCurrent) return later(context, 'another process took it');
  const found = findStep(context.workflows, live.state);
  const stop = await findStop(context.store, live.state);
  const owed = listOwedPhases(found.step, live.state);
  const now = context.clock.now();
  const next = decideNext(live.state, { owed, now, isStopped: stop !== undefined });
  return await follow(request, { live, found, next, stop });
}

interface Decided {
  readonly live: LiveExecution;
  readonly found: FoundStep;
  readonly next: NextStep;
  readonly stop: string | undefined;
}

async function follow(
  request: DriveRequest,
  { live, found, next, stop }: Decided,
): Promise<JobOutcome | undefined> {
  switch (next.type) {
    case 'ended':
      return { state: 'done' };
    case 'end':
      if (next.outcome !== 'completed') await stopChildren(request.context, live);
      await endExecution(live, next.outcome);
      return undefined;
    case 'wait':
      return { state: 'later', reason: next.why, notBefore: next.until };
    case 'park':
      return { state: 'parked', reason: next.why };
    case 'owe':
      await live.write((state, at) => owePhases(state, next.phases, at));
      return undefined;
    case 'skip': {
      const why = next.because === 'stopped' ? stop : undefined;
      if (why !== undefined) await cancelCodingStep({ context: request.context, live, found }, why);
      await skipPhases(live, { step: found.step, phases: next.phases, stop: why });
      return undefined;
    }
    case 'run':
      return await runPhase(request, { live, found, phase: next.phase });
  }
}

/** What is owned by an execution that did not complete has nothing left to work for. */
async function stopChildren(
  context: ExecutionContext,
  { key, executionId }: LiveExecution,
): Promise<void> {
  for (const child of await listOpenChildren(context, key)) {
    if (await findState(context.store, readExecutionId(child))) {
      await stopExecution(context, child, `its owner ${executionId} did not complete`);
    }
  }
}

interface PhaseRequest {
  readonly live: LiveExecution;
  readonly found: FoundStep;
  readonly phase: Phase;
}

async function runPhase(
  { context, outbox, jobContext }: DriveRequest,
  { live, found, phase }: PhaseRequest,
): Promise<JobOutcome | undefined> {
  const missing = findMissing(context, { live, found, phase });
  if (missing) return missing;
  using stop = watchStop(context.store, live.state);
  const run: PhaseRun = {
    context,
    outbox,
    live,
    phase,
    found,
    agent: live.state.agent ?? '',
    stopped: stop.signal,
    letGo: jobContext.signal,
  };
  if ((await beginPhase(run)) === 'exhausted') return undefined;
  try {
    return await runners(run);
  } catch (error) {
    return await settleTry(run, error);
  }
}

async function runners(run: PhaseRun): Promise<JobOutcome | undefined> {
  const { phase } = run;
  if (isPostStep(phase)) await runPostStep(run, phase);
  else if (phase === 'main_execution') await runMainExecution(run);
  else if (phase === 'pre_validation') await runPreValidation(run);
  else return (await runAutoNotification(run)) ?? undefined;
  return undefined;
}

async function settleTry(run: PhaseRun, error: unknown): Promise<JobOutcome | undefined> {
  const { context, live, phase, letGo } = run;
  if (!live.isCurrent) return later(context, 'another process took it');
  if (letGo.aborted) {
    // Nothing failed: we were told to let go, and no try is counted for it.
    const attempt = Math.max(0, recordOf(run).attempt - 1);
    await live.write((state, at) => changePhase(state, phase, { attempt, updatedAt: at }));
    return { state: 'later', reason: 'the engine stopped' };
  }
  // Of a stop the next decision makes what it is.
  const isStopped = (await findStop(context.store, live.state)) !== undefined;
  if (!isStopped || phase === 'auto_notification') await settleFailure(run, error);
  return undefined;
}

/** What the work needs and this builder was not given. Its state is kept; it is looked for again. */
function findMissing(
  context: ExecutionContext,
  { live, found, phase }: PhaseRequest,
): JobOutcome | undefined {
  const { executionId, workflowId, agent } = live.state;
  if (phase === 'auto_notification') return undefined;
  if (found.state === 'unknown') {
    return later(context, new UnknownWorkflowError(workflowId ?? '').message);
  }
  if (!isCodingStep(found.step) && (agent === undefined || !context.agents.has(agent))) {
    return later(context, agentNotRegistered(executionId, agent ?? '(none is named)').message);
  }
  const isAsked = (live.state.phases[phase]?.turns.length ?? 0) > 0;
  if (found.state === 'none' && phase !== 'pre_validation' && !isAsked) {
    return later(context, `nothing says what ${phase} of ${executionId} was asked`);
  }
  return undefined;
}

const LOOK_AGAIN_MS = 30_000;
const BUSY_MS = 1_000;

function later({ clock }: ExecutionContext, reason: string): JobOutcome {
  const ms = reason.startsWith('another') ? BUSY_MS : LOOK_AGAIN_MS;
  const notBefore = instantAfter(clock, ms);
  return { state: 'later', reason, notBefore };
}

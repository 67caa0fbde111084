import type { CodingOutcome } from '../threads/coding-job.js';
import { CodingThreadError } from '../threads/coding-thread-error.js';
import { mintUuidV7 } from '../threads/contract/uuid.js';
import type { CodingJobHandle } from '../threads/scheduling/coding-jobs.js';
import type { StageOutcome } from '../threads/stages/coding-stage.js';
import type { PhaseTurn } from '../workflow/continuation-state.js';
import { changePhase, changeTurn, pendingPhase } from '../workflow/phase-record.js';
import {
  type CodingJobStep,
  type CodingStageStep,
  isCodingStep,
  type StepCodingJob,
  type StepContext,
} from '../workflow/workflow-definition.js';
import { readStepJob, readStepStage } from './coding-step.wire.js';
import type { StepCoding } from './execution-context.js';
import { addTurn, type PhaseRun, recordOf, waitingSignal } from './phase-run.js';
import { workflowProcessId } from './workflow-process-id.js';

/**
 * The work of a coding step: a job or a stage, computed once and on disk before it is dispatched. Its turn's id is the job's, or
 * the stage's key, so that a process that comes after a crash goes on with the same one.
 */
export async function runCodingStep(
  run: PhaseRun,
  step: CodingJobStep | CodingStageStep,
): Promise<void> {
  const coding = getCoding(run, step.id);
  const known = recordOf(run).turns[0];
  const turn = known ?? (await addTurn(run, (context) => compute(run, step, context), 'prompt'));
  if (turn.state === 'open') {
    const work = { run, coding, turn };
    await completeTurn(run, turn, await (step.stage ? runStage(work) : runJob(work)));
  }
  if (step.coding) await acknowledge(coding, turn);
}

/** What is left of the work of a coding step that was stopped while nobody waited for it. */
export async function cancelCodingStep(
  run: Pick<PhaseRun, 'context' | 'live' | 'found'>,
  reason: string,
): Promise<void> {
  const { coding } = run.context;
  const { step } = run.found;
  const turn = run.live.state.phases.main_execution?.turns[0];
  if (!coding || !isCodingStep(step) || turn?.state !== 'open') return;
  if (step.coding) {
    const { handle } = await findJob(coding, turn);
    await handle?.cancel(reason);
    return;
  }
  const stopped = AbortSignal.abort(new CodingThreadError('job_cancelled', reason));
  await coding
    .runStage({ ...stageRequest(run, turn), signal: stopped })
    // It ends with the reason; whatever else is wrong with it, it is not gone on with.
    .catch(() => {});
}

function getCoding({ context }: PhaseRun, stepId: string): StepCoding {
  if (context.coding) return context.coding;
  throw new CodingThreadError(
    'runner_unfit',
    `The step ${stepId} needs coding runners: give createBuilder({ coding }).`,
  );
}

/** The text that is kept. A directive gets its operation id here: each try of the job is one of the same operation. */
async function compute(
  { context }: PhaseRun,
  step: CodingJobStep | CodingStageStep,
  stepContext: StepContext,
): Promise<string> {
  if (step.stage) return JSON.stringify(await step.stage(stepContext));
  const job: StepCodingJob = await step.coding(stepContext);
  const thread = job.coding?.thread;
  if (!thread || thread.operationId !== undefined) return JSON.stringify(job);
  const known = { ...thread, operationId: mintUuidV7(context.clock) };
  return JSON.stringify({ ...job, coding: { ...job.coding, thread: known } });
}

interface CodingWork {
  readonly run: PhaseRun;
  readonly coding: StepCoding;
  readonly turn: PhaseTurn;
}

async function runStage({ run, coding, turn }: CodingWork): Promise<StageOutcome> {
  const { stopped: signal, letGo } = run;
  return await coding.runStage({ ...stageRequest(run, turn), signal, letGo });
}

function stageRequest({ live }: Pick<PhaseRun, 'live'>, { turnId, message }: PhaseTurn) {
  return { key: turnId, stage: readStepStage(message), owner: ownerOf({ live }) };
}

function ownerOf({ live }: Pick<PhaseRun, 'live'>) {
  return { kind: 'workflow', processId: workflowProcessId(live.key) } as const;
}

async function runJob({ run, coding, turn }: CodingWork): Promise<CodingOutcome> {
  const { jobId, handle: known } = await findJob(coding, turn);
  const { runnerId, timeoutMs, input } = readStepJob(turn.message);
  const owner = ownerOf(run);
  const handle = known ?? (await coding.submit({ jobId, input, owner, runnerId, timeoutMs }));
  try {
    return await handle.result({ signal: waitingSignal(run) });
  } catch (error) {
    if (run.stopped.aborted && !run.letGo.aborted) await handle.cancel(reasonOf(run.stopped));
    throw error;
  }
}

interface FoundJob {
  readonly jobId: string;
  readonly handle?: CodingJobHandle | undefined;
}

/** The newest try of the job, or the id of the next one: only what failed in a way that another try may mend is tried again. */
async function findJob(coding: StepCoding, { turnId }: PhaseTurn): Promise<FoundJob> {
  for (let number = 1; ; number += 1) {
    const jobId = number === 1 ? turnId : `${turnId}.${number}`;
    const handle = await coding.find(jobId);
    if (!handle) return { jobId };
    const { end } = await handle.view();
    if (end?.class !== 'failed' || end.error.retry !== 'same') return { jobId, handle };
  }
}

/** The answer is on disk: neither the end of the job nor those of its earlier tries need be kept. */
async function acknowledge(coding: StepCoding, turn: PhaseTurn): Promise<void> {
  const { handle } = await findJob(coding, turn);
  const view = await handle?.view();
  if (view && !view.acknowledged) await handle?.acknowledge();
}

async function completeTurn(
  { live, phase }: PhaseRun,
  { turnId }: PhaseTurn,
  outcome: CodingOutcome | StageOutcome,
): Promise<void> {
  const answer = JSON.stringify(outcome);
  await live.write((state, at) => {
    const record = state.phases[phase] ?? pendingPhase(at);
    const turns = changeTurn(record, turnId, { state: 'completed', answer });
    return changePhase(state, phase, { turns, suspended: undefined, updatedAt: at });
  });
}

function reasonOf({ reason }: AbortSignal): string {
  return reason instanceof Error ? reason.message : 'the execution was stopped';
}

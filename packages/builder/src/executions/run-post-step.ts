import { SessionBusyError } from '@holdfast/agent';
import type { PhaseTurn } from '../workflow/continuation-state.js';
import {
  type LearningLock,
  type LearningLockPlace,
  takeLearningLock,
} from '../workflow/learning-lock.js';
import {
  findPostStepWork,
  hasOwnSession,
  isKbPhase,
  type PostStepPhase,
} from '../workflow/phase-plan.js';
import { changePhase, completePhase } from '../workflow/phase-record.js';
import { DEFAULT_LOCK } from '../workflow/with-learning-lock.js';
import type { PostStepWork } from '../workflow/workflow-definition.js';
import type { WorkflowEventBody } from '../workflow/workflow-event.js';
import type { SessionChoice } from './create-execution-agent.js';
import {
  addTurn,
  type PhaseRun,
  recordOf,
  runTurn,
  stepContextOf,
  waitingSignal,
} from './phase-run.js';

/**
 * Knowledge review or learning: one turn under the workflow's learning lock, and what is made of its answer. That it
 * waits, and the handle to go on with, were on disk before.
 */
export async function runPostStep(run: PhaseRun, phase: PostStepPhase): Promise<void> {
  await using lock = await takeLock(run, phase);
  await run.live.write(
    (state, at) => changePhase(state, phase, { status: 'running', updatedAt: at }),
    [{ type: 'learning_continuation_resumed', phase }],
  );
  const work = findPostStepWork(run.found.step, phase);
  const answer = await askOnce(run, phase, work);
  // Files that another may change by now are left alone: the answer is on disk and waits for the lock.
  if (!lock.isCurrent()) throw new SessionBusyError({ kind: 'ours' });
  await work?.apply?.(answer, await stepContextOf(run));
  await run.live.write((state, at) => completePhase(state, phase, at), completedEvents(phase));
}

/** What is told of a completed post-step phase. Pure. */
export function completedEvents(phase: PostStepPhase): readonly WorkflowEventBody[] {
  const type = isKbPhase(phase) ? 'kb_review_completed' : 'learning_completed';
  return [
    { type: 'phase_completed', phase },
    { type, phase },
  ];
}

/** The execution's lease is free meanwhile: the wait may last, and others may send into the session. */
async function takeLock(run: PhaseRun, phase: PostStepPhase): Promise<LearningLock> {
  const { live } = run;
  const { taken, waits } = beginWait(run);
  const first = await Promise.race([taken, waits]);
  if (!('position' in first)) return first;
  try {
    await live.log.append({ type: 'waiting_for_learning_lock', phase, ...first });
    return await live.outside(() => taken);
  } catch (error) {
    // Whatever became of our wait, nobody else may wait for a lock that we forgot.
    taken.then((lock) => lock[Symbol.asyncDispose]()).catch(() => {});
    throw error;
  }
}

function beginWait(run: PhaseRun) {
  let tell = (_place: LearningLockPlace) => {};
  const waits = new Promise<LearningLockPlace>((resolve) => {
    tell = resolve;
  });
  const taken = takeLearningLock(run.context.store, {
    name: run.found.workflow?.learningLock ?? DEFAULT_LOCK,
    executionId: run.live.executionId,
    signal: waitingSignal(run),
    closing: run.letGo,
    onWaiting: (place) => tell(place),
  });
  return { taken, waits };
}

/** One message, once: an answer that is on disk is not asked for again. */
async function askOnce(
  run: PhaseRun,
  phase: PostStepPhase,
  work: PostStepWork | undefined,
): Promise<string> {
  const known: PhaseTurn | undefined = recordOf(run).turns[0];
  if (known?.state === 'completed') return known.answer ?? '';
  const turn = known ?? (await addTurn(run, getWork(work, phase).prompt, 'review'));
  const { answer } = await runTurn(run, turn, sessionOf(run, phase, work));
  return answer;
}

function getWork(work: PostStepWork | undefined, phase: PostStepPhase): PostStepWork {
  if (work) return work;
  throw new TypeError(`The workflow's definition says nothing of ${phase} any more.`);
}

function sessionOf(
  { agent }: PhaseRun,
  phase: PostStepPhase,
  work: PostStepWork | undefined,
): SessionChoice {
  return hasOwnSession(phase) ? { agent: work?.agent ?? agent, phase } : { agent };
}

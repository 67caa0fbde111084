import {
  CONTINUATION_STATE_SCHEMA,
  type ContinuationState,
  type PhaseRecord,
} from './continuation-state.js';
import { findPostStepWork, isPostStep, listOwedPhases, type PostStepPhase } from './phase-plan.js';
import { pendingPhase } from './phase-record.js';
import { isSettled, PHASES } from './phases.js';
import { listSteps, type StepDefinition, type WorkflowDefinition } from './workflow-definition.js';

/** What becomes of a state that an older system wrote. */
export type Upgrade =
  | { readonly type: 'upgraded'; readonly state: ContinuationState }
  /** It owes nothing: the file stays as it is. */
  | { readonly type: 'settled' }
  /** It owes something that can't be done; the file stays as it is. */
  | { readonly type: 'left'; readonly reason: UpgradeObstacle; readonly why: string };

/** Why a state of schema 1 cannot be gone on with. */
export type UpgradeObstacle =
  | 'main_work_interrupted'
  | 'unregistered_agent'
  | 'ambiguous_step'
  | 'no_session';

const POST_STEP: readonly PostStepPhase[] = PHASES.filter(isPostStep);

/**
 * Makes a state of schema 1 one that can be driven. It says neither which messages were sent nor by whom, so only what comes
 * after the validated main work is gone on with, by the step of that id in a registered workflow. Phases that no
 * definition wants any more are skipped; what the definition owes and no record shows is due. Pure.
 */
export function upgradeState(
  state: ContinuationState,
  workflows: ReadonlyMap<string, WorkflowDefinition>,
  at: string,
): Upgrade {
  if (state.outcome === 'failed') return { type: 'settled' };
  if (!hasPassed(state)) {
    if (PHASES.every((phase) => isOver(state.phases[phase]))) return { type: 'settled' };
    const why = 'schema 1 does not say what was sent: running it again could repeat it';
    return { type: 'left', reason: 'main_work_interrupted', why };
  }
  if (isLearned(state)) return { type: 'settled' };
  const owners = findOwners(state, workflows);
  const [owner] = owners;
  if (!owner) return leftWithoutOwner(state);
  if (owners.length > 1) {
    const why = `${owners.map(({ workflow }) => workflow.id).join(', ')} have a step ${state.stepId}`;
    return { type: 'left', reason: 'ambiguous_step', why };
  }
  return upgradeFor(state, owner, at);
}

/** Whether everything the older system did after the main work shows that it is done. */
function isLearned({ phases }: ContinuationState): boolean {
  const known = POST_STEP.filter((phase) => phases[phase]);
  return known.length > 0 && known.every((phase) => isOver(phases[phase]));
}

function leftWithoutOwner(state: ContinuationState): Upgrade {
  // With nothing on record that is open, only a definition could say that something is owed.
  if (POST_STEP.every((phase) => isOver(state.phases[phase]))) return { type: 'settled' };
  const why = `no registered workflow has a step ${state.stepId}`;
  return { type: 'left', reason: 'unregistered_agent', why };
}

interface StepOwner {
  readonly workflow: WorkflowDefinition;
  readonly step: StepDefinition;
}

/** The workflows that have the step; where several do, the one that is named like the workspace. */
function findOwners(
  { stepId, workspacePath = '' }: ContinuationState,
  workflows: ReadonlyMap<string, WorkflowDefinition>,
): readonly StepOwner[] {
  const owners = [...workflows.values()].flatMap((workflow) => {
    const step = listSteps(workflow).find(({ id }) => id === stepId);
    return step ? [{ workflow, step }] : [];
  });
  const named = owners.filter(({ workflow }) => workspacePath.split('/').at(-1) === workflow.id);
  return named.length === 1 ? named : owners;
}

function upgradeFor(state: ContinuationState, { workflow, step }: StepOwner, at: string): Upgrade {
  const due = POST_STEP.flatMap((phase) => {
    const record = judgePhase(state, phase, { step, at });
    return record ? [[phase, record] as const] : [];
  });
  const open = due.filter(([, { status }]) => !isSettled(status)).map(([phase]) => phase);
  if (open.length === 0) return { type: 'settled' };
  const handle = state.handle ?? state.phases.main_execution?.handle;
  const lacking = open.find((phase) => isDirect(phase) && !(state.phases[phase]?.handle ?? handle));
  if (lacking) {
    const why = `${lacking} goes on in the step's own session, and no handle of it is on record`;
    return { type: 'left', reason: 'no_session', why };
  }
  const upgraded: ContinuationState = {
    ...state,
    schemaVersion: CONTINUATION_STATE_SCHEMA,
    workflowId: workflow.id,
    agent: step.agent,
    correlationId: state.correlationId ?? state.executionId,
    outcome: 'open',
    updatedAt: at,
    phases: {
      ...state.phases,
      pre_validation: state.phases.pre_validation ?? { ...pendingPhase(at), status: 'skipped' },
      ...Object.fromEntries(due),
    },
  };
  const owesNotice = listOwedPhases(step, upgraded).includes('auto_notification');
  const phases = { ...(owesNotice && { auto_notification: pendingPhase(at) }), ...upgraded.phases };
  // A phase's own handle wins where it has one: it is the newest of the step's session.
  const newest = open.flatMap((phase) => (isDirect(phase) && state.phases[phase]?.handle) || [])[0];
  return { type: 'upgraded', state: { ...upgraded, phases, handle: newest ?? handle } };
}

interface JudgeOptions {
  readonly step: StepDefinition;
  readonly at: string;
}

/** What a phase after the main work becomes; `undefined` for one that nobody wants and nothing is on record of. */
function judgePhase(
  state: ContinuationState,
  phase: PostStepPhase,
  { step, at }: JudgeOptions,
): PhaseRecord | undefined {
  const record = state.phases[phase];
  const isWanted = findPostStepWork(step, phase) !== undefined;
  if (!record) return isWanted ? findUnrecorded(state, at) : undefined;
  if (isSettled(record.status)) return record;
  if (isWanted) return { ...record, status: 'recovery_queued', updatedAt: at };
  return { ...record, status: 'skipped', updatedAt: at };
}

/** One turn of the older system learned and reviewed at once: where that is over, there is no more to do. */
function findUnrecorded({ phases }: ContinuationState, at: string): PhaseRecord {
  const { direct_learning: merged } = phases;
  const isDone = merged !== undefined && isSettled(merged.status);
  return isDone ? { ...pendingPhase(at), status: 'skipped' } : pendingPhase(at);
}

function hasPassed({ phases }: ContinuationState): boolean {
  const { main_execution: main, pre_validation: validation } = phases;
  if (main?.status !== 'completed') return false;
  return validation === undefined || validation.status === 'completed';
}

function isOver(record: PhaseRecord | undefined): boolean {
  return record === undefined || isSettled(record.status);
}

function isDirect(phase: PostStepPhase): boolean {
  return phase === 'kb_review' || phase === 'direct_learning';
}

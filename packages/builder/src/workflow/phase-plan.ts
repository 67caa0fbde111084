import type { ContinuationState } from './continuation-state.js';
import type { Phase } from './phases.js';
import {
  listSteps,
  type PostStepWork,
  type StepDefinition,
  type WorkflowDefinition,
} from './workflow-definition.js';

/** What the definition says of an execution; `unknown` where its workflow, or the step in it, is not there any more. */
export type FoundStep =
  | {
      readonly state: 'defined';
      readonly step: StepDefinition;
      readonly workflow: WorkflowDefinition;
    }
  /** It belongs to no workflow: a sub-agent, or what an older system wrote. */
  | { readonly state: 'none'; readonly step?: undefined; readonly workflow?: undefined }
  | { readonly state: 'unknown'; readonly step?: undefined; readonly workflow?: undefined };

/** Looks the step of an execution up. The main agent of a workflow is a step of one prompt. */
export function findStep(
  workflows: ReadonlyMap<string, WorkflowDefinition>,
  { workflowId, ownerKind, stepId }: Pick<ContinuationState, 'workflowId' | 'ownerKind' | 'stepId'>,
): FoundStep {
  if (workflowId === undefined) return { state: 'none' };
  const workflow = workflows.get(workflowId);
  if (!workflow) return { state: 'unknown' };
  if (ownerKind === 'workflow') {
    const { main } = workflow;
    if (!main) return { state: 'unknown' };
    return { state: 'defined', workflow, step: { ...main, id: stepId } };
  }
  const step = stepsOf(workflow).get(stepId);
  return step ? { state: 'defined', workflow, step } : { state: 'unknown' };
}

/** Looked up for each open execution at a start; a definition never changes. */
function stepsOf(workflow: WorkflowDefinition): ReadonlyMap<string, StepDefinition> {
  const known = stepsById.get(workflow);
  if (known) return known;
  const steps = new Map(listSteps(workflow).map((step) => [step.id, step]));
  stepsById.set(workflow, steps);
  return steps;
}

const stepsById = new WeakMap<WorkflowDefinition, ReadonlyMap<string, StepDefinition>>();

/** Every phase that the definition says an execution owes; what has no definition owes what its state says. Pure. */
export function listOwedPhases(
  step: StepDefinition | undefined,
  { ownerKind, notify }: Pick<ContinuationState, 'ownerKind' | 'notify'>,
): readonly Phase[] {
  if (!step) return [];
  const owed: Phase[] = ['main_execution', 'pre_validation'];
  if (step.kbReview) owed.push(isAgentMode(step.kbReview) ? 'kb_update_agent' : 'kb_review');
  if (step.learning) owed.push(isAgentMode(step.learning) ? 'learning_agent' : 'direct_learning');
  if (isNotified(step, ownerKind, notify !== undefined)) owed.push('auto_notification');
  return owed;
}

/** A sub-step is part of its step, and a main agent that opened its session is no end of anything: nobody is told of these. */
function isNotified({ notify }: StepDefinition, ownerKind: string, isAskedFor: boolean): boolean {
  if (ownerKind === 'todo_sub_step' || ownerKind === 'workflow') return isAskedFor;
  return notify !== false;
}

/** The phases that are run under the learning lock. */
export type PostStepPhase = Exclude<
  Phase,
  'main_execution' | 'pre_validation' | 'auto_notification'
>;

/** Tells the post-step work from the rest. */
export function isPostStep(phase: Phase): phase is PostStepPhase {
  return phase !== 'main_execution' && phase !== 'pre_validation' && phase !== 'auto_notification';
}

/** Whether the phase has a session of its own. */
export function hasOwnSession(phase: Phase): boolean {
  return phase === 'learning_agent' || phase === 'kb_update_agent';
}

/** Whether the phase is about the knowledge base; the others are about learning. */
export function isKbPhase(phase: PostStepPhase): boolean {
  return phase === 'kb_review' || phase === 'kb_update_agent';
}

/** The work of a post-step phase, where the definition still has it in that mode. */
export function findPostStepWork(
  step: StepDefinition | undefined,
  phase: PostStepPhase,
): PostStepWork | undefined {
  const work = isKbPhase(phase) ? step?.kbReview : step?.learning;
  return work && isAgentMode(work) === hasOwnSession(phase) ? work : undefined;
}

function isAgentMode({ mode }: PostStepWork): boolean {
  return mode === 'agent';
}

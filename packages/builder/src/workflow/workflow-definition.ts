import type { JsonValue } from '../persistence/store.js';
import type { CodingJobInput } from '../threads/coding-job.js';
import type { CodingStage } from '../threads/stages/coding-stage.js';

/** What a step's functions are given. */
export interface StepContext {
  readonly executionId: string;
  readonly iteration: string;
  readonly group: string;
  readonly step: string;
  /** What the run was started with. */
  readonly input: JsonValue;
  /** The answers of the steps that are completed, by step id. */
  readonly answers: Readonly<Record<string, string>>;
  /** Aborts when the builder closes or the execution is stopped. */
  readonly signal: AbortSignal;
}

/** A text, or what makes it. Called once for each message: what it returned is on disk before it is sent. */
export type Prompt = string | ((context: StepContext) => string | Promise<string>);

/** What a validation says. `feedback` goes to the same session, a bounded number of times. */
export type ValidationResult =
  | { readonly passed: true }
  | { readonly passed: false; readonly feedback: string };

/** A piece of work after the main one. `direct` is a turn in the step's own session, `agent` a session of another agent. */
export interface PostStepWork {
  readonly mode?: 'direct' | 'agent' | undefined;
  /** With `agent`: its id; the step's own agent when absent. */
  readonly agent?: string | undefined;
  readonly prompt: Prompt;
  /** Called with the answer, under the learning lock. It may be called again after a crash: `executionId` is its key. */
  readonly apply?: ((answer: string, context: StepContext) => void | Promise<void>) | undefined;
}

/** What every step has, whatever its work is. */
export interface StepBase {
  readonly id: string;
  /** Without a session to send feedback to, an answer that does not pass fails the step. */
  readonly preValidate?:
    | ((answer: string, context: StepContext) => ValidationResult | Promise<ValidationResult>)
    | undefined;
  /** Tells the run's `notify` of the step's end; true when absent. */
  readonly notify?: boolean | undefined;
  /** Todo sub-steps: run one after the other before the step's own validation, each with a state of its own. */
  readonly subSteps?: readonly StepDefinition[] | undefined;
  /** How often a phase is begun until it is failed; 5 when absent. */
  readonly maxAttempts?: number | undefined;
}

/** A step whose work are turns in the session of an agent. */
export interface PromptStep extends StepBase {
  /** The id of an agent that was given to `createBuilder`. */
  readonly agent: string;
  /** One message, or a sequence of them, each a turn of the same session. */
  readonly prompt: Prompt | readonly Prompt[];
  /** How often feedback is sent before the step fails; 2 when absent. */
  readonly maxFeedback?: number | undefined;
  /** `direct` is the phase `kb_review`, `agent` is `kb_update_agent`. */
  readonly kbReview?: PostStepWork | undefined;
  /** `direct` is the phase `direct_learning`, `agent` is `learning_agent`. */
  readonly learning?: PostStepWork | undefined;
  readonly coding?: undefined;
  readonly stage?: undefined;
}

/** A piece of work after a coding step, which has no session of its own to do it in. */
export type AgentPostStepWork = PostStepWork & { readonly mode: 'agent'; readonly agent: string };

interface CodingStepBase extends StepBase {
  readonly agent?: undefined;
  readonly prompt?: undefined;
  readonly maxFeedback?: undefined;
  readonly kbReview?: AgentPostStepWork | undefined;
  readonly learning?: AgentPostStepWork | undefined;
}

/** A coding job as a step makes it: the job itself, and how it is scheduled. */
export interface StepCodingJob extends CodingJobInput {
  /** The runner of a job without a directive. */
  readonly runnerId?: string | undefined;
  readonly timeoutMs?: number | undefined;
}

/** A step whose work is one coding job. Its answer is the outcome as JSON. */
export interface CodingJobStep extends CodingStepBase {
  /** Called once: what it returned is on disk before it is submitted. */
  readonly coding: (context: StepContext) => StepCodingJob | Promise<StepCodingJob>;
  readonly stage?: undefined;
}

/** A step whose work is a whole stage, from the first job to the closed conversations. Its answer is the outcome as JSON. */
export interface CodingStageStep extends CodingStepBase {
  /** Called once: what it returned is on disk before anything is dispatched. */
  readonly stage: (context: StepContext) => CodingStage | Promise<CodingStage>;
  readonly coding?: undefined;
}

/** One step of a workflow: exactly one of `prompt`, `coding` and `stage` is its work. */
export type StepDefinition = PromptStep | CodingJobStep | CodingStageStep;

/** Whether the work of a step is done by coding runners, and not in a session of its own. */
export function isCodingStep(
  step: StepDefinition | undefined,
): step is CodingJobStep | CodingStageStep {
  return step?.coding !== undefined || step?.stage !== undefined;
}

/** Steps that run side by side. */
export interface ParallelSteps {
  readonly parallel: readonly StepDefinition[];
}

/** A workflow as code. Stored work names it by its id. */
export interface WorkflowDefinition {
  readonly id: string;
  /** The main agent: its session begins with this prompt and is told of each step's end. */
  readonly main?: { readonly agent: string; readonly prompt: Prompt } | undefined;
  readonly steps: readonly (StepDefinition | ParallelSteps)[];
  /** Runs with the same name take turns at shared files; `default` when absent. */
  readonly learningLock?: string | undefined;
}

/** The step id of a workflow's main agent; no step of a definition may have it. */
export const MAIN_AGENT_STEP = 'workflow';

/** Returns the definition, typed. Ids that cannot stand in a path, or stand twice, are a TypeError. */
export function defineWorkflow(definition: WorkflowDefinition): WorkflowDefinition {
  checkWorkflow(definition);
  return definition;
}

/** Every step of the workflow with the sub-steps, in order. */
export function listSteps(definition: WorkflowDefinition): readonly StepDefinition[] {
  const flat = (step: StepDefinition): readonly StepDefinition[] => [
    step,
    ...(step.subSteps ?? []).flatMap(flat),
  ];
  return definition.steps
    .flatMap((one) => ('parallel' in one ? one.parallel : [one]))
    .flatMap(flat);
}

function checkWorkflow(definition: WorkflowDefinition): void {
  const ids = [definition.id, ...listSteps(definition).map(({ id }) => id)];
  for (const id of ids) {
    if (typeof id === 'string' && /^[A-Za-z0-9._-]{1,40}$/.test(id) && !/^\.+$/.test(id)) continue;
    throw new TypeError(`${JSON.stringify(id)} is no id; use 1 to 40 of A-Z a-z 0-9 . _ -`);
  }
  const steps = ids.slice(1);
  const twice = steps.find((id, index) => steps.indexOf(id) !== index);
  if (twice) throw new TypeError(`Two steps of ${definition.id} have the id ${twice}.`);
  if (steps.includes(MAIN_AGENT_STEP)) {
    throw new TypeError(`No step may be called ${MAIN_AGENT_STEP}: that is the main agent.`);
  }
  if (steps.length === 0) throw new TypeError(`The workflow ${definition.id} has no step.`);
  listSteps(definition).forEach(checkStep);
}

function checkStep(step: StepDefinition): void {
  const { id, prompt, coding, stage, kbReview, learning } = step;
  const works = [prompt, coding, stage].filter((one) => one !== undefined);
  if (works.length !== 1) {
    throw new TypeError(`The step ${id} needs exactly one of prompt, coding and stage.`);
  }
  if (!isCodingStep(step)) return;
  const isLost = [kbReview, learning].some(
    (work) => work && !(work.mode === 'agent' && work.agent),
  );
  if (isLost) {
    throw new TypeError(
      `The coding step ${id} has no session of its own: give what comes after it mode 'agent' and an agent.`,
    );
  }
}

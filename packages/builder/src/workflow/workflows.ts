import { randomUUID } from 'node:crypto';
import { isoInstant, systemClock } from '@holdfast/agent';
import type { BuilderContext } from '../builder-context.js';
import { checkName } from '../executions/execution-key.js';
import type { SessionOwner } from '../executions/execution-owner.js';
import type { ExecutionEventsOptions, Executions } from '../executions/executions.js';
import { keys } from '../persistence/keys.js';
import type { JsonValue } from '../persistence/store.js';
import { untilEither } from '../until-either.js';
import { checkRunStates } from './check-run-states.js';
import type { ContinuationState } from './continuation-state.js';
import { inspectLearningLock, type LearningLock, type LearningLockState } from './learning-lock.js';
import { type RunEvent, readRunEvents } from './run-events.js';
import { createRun, readRun } from './run-file.js';
import { stopRun } from './stop-run.js';
import { DEFAULT_LOCK, type LearningLockOptions, withLearningLock } from './with-learning-lock.js';
import { listSteps, MAIN_AGENT_STEP } from './workflow-definition.js';
import { UnknownExecutionError, UnknownWorkflowError } from './workflow-error.js';
import { type RunKey, type RunRecord, type RunView, runIdOf } from './workflow-run.js';
import { encodeRunRecord } from './workflow-run.wire.js';

/** What a run is begun with. */
export interface StartRun {
  /** The id of a workflow that was given to `createBuilder`. */
  readonly workflow: string;
  /** Made when absent. With the same `iteration` and `group` a run is begun once, and found again after that. */
  readonly iteration?: string | undefined;
  /** `main` when absent. */
  readonly group?: string | undefined;
  /** Handed to every function of the definition; null when absent. */
  readonly input?: JsonValue | undefined;
  /** Whose session is told of the run's end. */
  readonly notify?: SessionOwner | undefined;
  readonly correlationId?: string | undefined;
}

/** One run of a workflow. It holds nothing open: everything is read from disk when asked. */
export interface WorkflowRun extends RunKey {
  readonly runId: string;
  readonly view: () => Promise<RunView>;
  /**
   * Resolves once the run has ended, in whichever process; a failed one too: look at `outcome`. A `StateUnusableError` where the
   * state of a step cannot be used: restore it, and the run goes on. A TypeError once the builder was closed.
   */
  readonly wait: (options?: { readonly signal?: AbortSignal | undefined }) => Promise<RunView>;
  /** Fences every later start of its steps and interrupts what runs. */
  readonly stop: (reason: string) => Promise<void>;
  /** The events of all its executions; `cursor` goes on where an event stood. */
  readonly events: (options?: RunEventsOptions) => AsyncIterable<RunEvent>;
}

/** How a run's events are read. */
export interface RunEventsOptions extends Pick<ExecutionEventsOptions, 'follow'> {
  /** The `cursor` of the last event that was seen; from the start when absent. */
  readonly cursor?: string | undefined;
}

/** The workflow runs of one data directory. */
export interface Workflows {
  /** On disk and queued when it resolves. */
  readonly start: (request: StartRun) => Promise<WorkflowRun>;
  /** The run of that place, or `unknown_execution`. */
  readonly get: (run: RunKey) => Promise<WorkflowRun>;
  readonly list: () => Promise<readonly RunKey[]>;
  /** Who holds the learning lock, since when, and who waits. */
  readonly learningLock: (name?: string) => Promise<LearningLockState>;
  /** For a service that changes the shared files itself: takes its turn in the same line as the workflows. */
  readonly withLearningLock: <Value>(
    work: (lock: Pick<LearningLock, 'isCurrent'>) => Promise<Value>,
    options?: LearningLockOptions,
  ) => Promise<Value>;
}

/** The workflow runs below a builder's store. */
export function createWorkflows(context: BuilderContext, executions: Executions): Workflows {
  const at = (run: RunKey) => createWorkflowRun(context, executions, run);
  return {
    start: async (request) => {
      context.checkOpen();
      return at(await startRun(context, request));
    },
    get: async (run) => {
      await viewRun(context, executions, run);
      return at(run);
    },
    list: () => listRuns(context),
    learningLock: (name = DEFAULT_LOCK) => inspectLearningLock(context.store, name),
    withLearningLock: async (work, options) => {
      context.checkOpen();
      return await withLearningLock(context, work, options);
    },
  };
}

/** The queue in which runs are driven. */
export const RUNS_QUEUE = 'runs';

async function startRun(context: BuilderContext, request: StartRun): Promise<RunKey> {
  const { workflow, group = 'main', iteration = randomUUID(), notify } = request;
  const run = { iteration: checkName(iteration), group: checkName(group) };
  if (!context.workflows.has(workflow)) throw new UnknownWorkflowError(workflow);
  const at = isoInstant(systemClock);
  const record: RunRecord = {
    ...run,
    workflowId: workflow,
    input: request.input ?? null,
    notify,
    correlationId: request.correlationId ?? runIdOf(run),
    createdAt: at,
    updatedAt: at,
    outcome: 'open',
  };
  // The job first, and with all that the run begins with: whoever takes it needs nothing else of us.
  await context.engine.enqueue(RUNS_QUEUE, runIdOf(run), encodeRunRecord(record));
  const isNew = await createRun(context.store, record);
  if (!isNew) await checkSameWorkflow(context, run, workflow);
  return run;
}

async function checkSameWorkflow(
  { store, engine }: BuilderContext,
  run: RunKey,
  workflow: string,
): Promise<void> {
  const known = await readRun(store, run);
  if (known && known.workflowId !== workflow) {
    throw new TypeError(
      `The run ${runIdOf(run)} is one of ${known.workflowId}, not of ${workflow}; give another iteration or group.`,
    );
  }
  await engine.wake(RUNS_QUEUE, runIdOf(run));
}

function createWorkflowRun(
  context: BuilderContext,
  executions: Executions,
  run: RunKey,
): WorkflowRun {
  return {
    ...run,
    runId: runIdOf(run),
    view: () => viewRun(context, executions, run),
    wait: ({ signal } = {}) => waitForRun(context, executions, { run, signal }),
    stop: (reason) => {
      context.checkOpen();
      return stopRun(context, executions, { run, reason });
    },
    events: ({ cursor, follow } = {}) => {
      const until = untilEither(follow, context.closing);
      return readRunEvents(context.store, executions, { run, cursor, follow: until });
    },
  };
}

async function viewRun(
  { store, workflows }: BuilderContext,
  executions: Executions,
  run: RunKey,
): Promise<RunView> {
  const record = await readRun(store, run);
  if (!record) throw new UnknownExecutionError(runIdOf(run));
  const definition = workflows.get(record.workflowId);
  const order = [MAIN_AGENT_STEP, ...(definition ? listSteps(definition) : []).map(({ id }) => id)];
  const place = ({ stepId }: ContinuationState) =>
    order.includes(stepId) ? order.indexOf(stepId) : order.length;
  const states = [...(await executions.list(run))];
  return {
    ...record,
    runId: runIdOf(run),
    executions: states.sort((one, other) => place(one) - place(other)),
  };
}

/** How often a run of another process is looked at. */
const LOOK_MS = 250;
/** At every how manieth look its steps are looked at too. */
const LOOKS_A_CHECK = 8;

async function waitForRun(
  context: BuilderContext,
  executions: Executions,
  { run, signal }: { readonly run: RunKey; readonly signal?: AbortSignal | undefined },
): Promise<RunView> {
  const { closing, checkOpen } = context;
  const either = signal ? AbortSignal.any([signal, closing]) : closing;
  for (let look = 0; ; look += 1) {
    signal?.throwIfAborted();
    const record = await readRun(context.store, run);
    if (record?.outcome !== 'open') return await viewRun(context, executions, run);
    if (look % LOOKS_A_CHECK === 0) {
      await checkRunStates(context.store, run, context.workflows.get(record.workflowId));
    }
    signal?.throwIfAborted();
    // Whoever waits on would keep its process alive for what nobody here drives any more.
    checkOpen();
    await systemClock.sleep(LOOK_MS, either).catch(() => {});
  }
}

async function listRuns({ store }: BuilderContext): Promise<readonly RunKey[]> {
  const runs: RunKey[] = [];
  for (const iteration of await store.list(keys.runs())) {
    for (const group of await store.list(keys.iteration(iteration))) {
      if ((await store.read(keys.run({ iteration, group }))).state === 'present') {
        runs.push({ iteration, group });
      }
    }
  }
  return runs;
}

import { isoInstant, systemClock } from '@holdfast/agent';
import type { BuilderContext } from '../builder-context.js';
import type { Job, JobContext, JobHandler, JobOutcome } from '../engine/job-engine.js';
import { executionIdOf } from '../executions/execution-key.js';
import type { SessionOwner } from '../executions/execution-owner.js';
import type { Executions } from '../executions/executions.js';
import { instantAfter } from '../instant-after.js';
import { writeHeader } from '../notifications/create-notification.js';
import type { Outbox } from '../notifications/outbox.js';
import type { JsonValue } from '../persistence/store.js';
import type { ContinuationState } from './continuation-state.js';
import { createRun, readRun, writeRun } from './run-file.js';
import { findRunStop } from './stop-run.js';
import {
  MAIN_AGENT_STEP,
  type StepDefinition,
  type WorkflowDefinition,
} from './workflow-definition.js';
import { ChildFailedError, ExecutionStoppedError, UnknownWorkflowError } from './workflow-error.js';
import { type RunKey, type RunRecord, readRunId, runIdOf } from './workflow-run.js';
import { decodeRunRecord } from './workflow-run.wire.js';

/** How soon a run whose workflow nobody here knows is looked at again. */
const LOOK_AGAIN_MS = 10_000;

/** What a run is driven with. */
export interface RunDriver {
  readonly context: BuilderContext;
  readonly executions: Executions;
  readonly outbox: Outbox;
}

/**
 * The handler of the queue of runs. Runs the steps of one run in order, those of a parallel group side by side. Each step has a state of its own, so that
 * a run that is begun again finds what is done and starts only what is missing.
 */
export function createRunHandler(driver: RunDriver): JobHandler {
  return (job, jobContext) => driveRun(driver, job, jobContext);
}

async function driveRun(
  driver: RunDriver,
  { id, payload }: Job,
  job: JobContext,
): Promise<JobOutcome> {
  const { context } = driver;
  const record = await openRun(context, readRunId(id), payload);
  if (record.outcome !== 'open') return tellEnd(driver, record, job.signal);
  const workflow = context.workflows.get(record.workflowId);
  if (!workflow) {
    // Another builder may know it, or this one after its next deployment.
    const reason = new UnknownWorkflowError(record.workflowId).message;
    return { state: 'later', reason, notBefore: instantAfter(systemClock, LOOK_AGAIN_MS) };
  }
  const ended = await runSteps(driver, { record, workflow, signal: job.signal });
  if (!job.isCurrent()) return { state: 'later', reason: 'another process drives the run' };
  await writeRun(context.store, { ...ended, updatedAt: isoInstant(systemClock) });
  return tellEnd(driver, ended, job.signal);
}

/** The run as it stands, or as its job says it begins: whoever was to write it may have died, or be slower than we are. */
async function openRun(
  { store }: BuilderContext,
  key: RunKey,
  payload: JsonValue,
): Promise<RunRecord> {
  const known = await readRun(store, key);
  if (known) return known;
  const begun = decodeRunRecord(payload, runIdOf(key));
  if (await createRun(store, begun)) return begun;
  return (await readRun(store, key)) ?? begun;
}

interface RunRequest {
  readonly record: RunRecord;
  readonly workflow: WorkflowDefinition;
  readonly signal: AbortSignal;
}

async function runSteps(driver: RunDriver, request: RunRequest): Promise<RunRecord> {
  const { record, workflow } = request;
  const notify = await openMainAgent(driver, request);
  if (notify === 'failed') return failedBy(record, idOf(record, MAIN_AGENT_STEP));
  for (const stage of workflow.steps) {
    const stop = await findRunStop(driver.context.store, record);
    if (stop !== undefined) return stoppedBy(record, stop);
    const steps = 'parallel' in stage ? stage.parallel : [stage];
    const states = await Promise.all(
      steps.map((step) => runStep(driver, { ...request, step, notify })),
    );
    const bad = states.find(({ outcome }) => outcome !== 'completed');
    if (bad) {
      return bad.outcome === 'stopped'
        ? stoppedBy(record, `its step ${bad.stepId} was stopped`)
        : failedBy(record, bad.executionId);
    }
  }
  return { ...record, outcome: 'completed' };
}

/** The session that is told of each step: the main agent's, else whoever started the run. */
async function openMainAgent(
  { executions }: RunDriver,
  { record, workflow, signal }: RunRequest,
): Promise<SessionOwner | undefined | 'failed'> {
  if (!workflow.main) return record.notify;
  const { executionId } = await executions.start({
    key: { ...record, step: MAIN_AGENT_STEP },
    ownerKind: 'workflow',
    agent: workflow.main.agent,
    workflowId: workflow.id,
    correlationId: record.correlationId,
    input: record.input,
  });
  const { outcome } = await executions.wait(executionId, { signal });
  return outcome === 'completed' ? { kind: 'execution', executionId } : 'failed';
}

interface StepRequest extends RunRequest {
  readonly step: StepDefinition;
  readonly notify: SessionOwner | undefined;
}

async function runStep(
  { executions }: RunDriver,
  { record, workflow, step, notify, signal }: StepRequest,
): Promise<ContinuationState> {
  const { executionId } = await executions.start({
    key: { ...record, step: step.id },
    ownerKind: 'workflow_step',
    agent: step.agent,
    workflowId: workflow.id,
    correlationId: record.correlationId,
    input: record.input,
    notify: step.notify === false ? undefined : notify,
  });
  return await executions.wait(executionId, { signal });
}

/** A run ends for its caller only when it was told: the record is the truth, the job stays until then. */
async function tellEnd(
  { outbox }: RunDriver,
  record: RunRecord,
  signal: AbortSignal,
): Promise<JobOutcome> {
  if (record.outcome === 'open') throw new Error('unreachable: the run is open');
  const runId = runIdOf(record);
  const { notificationId } = await outbox.put({
    notificationId: `${runId}~run`,
    executionId: runId,
    outcome: record.outcome,
    text: describeEnd(record),
    target: record.notify,
    at: record.updatedAt,
  });
  const entry = await outbox.deliver(notificationId, signal);
  const notBefore = outbox.nextDueAt(entry);
  if (!notBefore) return { state: 'done' };
  return { state: 'later', reason: 'the end of the run is not told yet', notBefore };
}

function describeEnd(record: RunRecord): string {
  const { workflowId, outcome, error } = record;
  if (outcome === 'open') throw new Error('unreachable: the run is open');
  const head = writeHeader(`Workflow ${workflowId}`, outcome, `run ${runIdOf(record)}`);
  return error ? `${head}\nReason: ${error.message}` : head;
}

function failedBy(record: RunRecord, executionId: string): RunRecord {
  return { ...record, outcome: 'failed', error: new ChildFailedError(executionId).toJSON() };
}

function stoppedBy(record: RunRecord, reason: string): RunRecord {
  const error = new ExecutionStoppedError(runIdOf(record), reason);
  return { ...record, outcome: 'stopped', error: error.toJSON() };
}

function idOf({ iteration, group }: RunKey, step: string): string {
  return executionIdOf({ iteration, group, step });
}

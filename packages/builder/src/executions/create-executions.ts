import { untilEither } from '../until-either.js';
import type { ContinuationState } from '../workflow/continuation-state.js';
import { readExecutionLog } from '../workflow/execution-log.js';
import { changePhase } from '../workflow/phase-record.js';
import { isSettled, PHASES } from '../workflow/phases.js';
import { ExecutionStoppedError } from '../workflow/workflow-error.js';
import { agentNotRegistered } from './create-execution-agent.js';
import { noteChild, waitForEnd } from './execution-children.js';
import { EXECUTIONS_QUEUE, type ExecutionContext } from './execution-context.js';
import { encodeExecutionJob } from './execution-job.wire.js';
import { executionIdOf, readExecutionId } from './execution-key.js';
import { findState, getState, listStates } from './execution-state.js';
import type { Executions, StartExecution } from './executions.js';
import { openExecution } from './live-execution.js';
import { createState } from './open-state.js';
import { queueNow, stopExecution } from './stop-execution.js';
import { findStop } from './stop-fence.js';

/** The executions of one data directory. Nothing is held open: everything is read from disk when asked. */
export function createExecutions(context: ExecutionContext): Executions {
  const { store } = context;
  return {
    start: async (request) => {
      context.checkOpen();
      return await startExecution(context, request);
    },
    get: (executionId) => getState(store, executionId),
    wait: async (executionId, { signal } = {}) => {
      await getState(store, executionId);
      return await waitForEnd(context, executionId, signal);
    },
    stop: async (executionId, reason) => {
      context.checkOpen();
      await stopExecution(context, executionId, reason);
    },
    resume: async (executionId) => {
      context.checkOpen();
      await resumeExecution(context, executionId);
    },
    list: (run) => listStates(store, run),
    events: async function* (executionId, { from, follow } = {}) {
      await getState(store, executionId);
      const until = untilEither(follow, context.closing);
      yield* readExecutionLog(store, readExecutionId(executionId), { from, follow: until });
    },
  };
}

async function startExecution(
  context: ExecutionContext,
  request: StartExecution,
): Promise<ContinuationState> {
  const { store, notices } = context;
  const { key, owner } = request;
  const executionId = executionIdOf(key);
  const known = await findState(store, key);
  if (known) return await goOn(context, known);
  const { agent } = request;
  if (agent !== undefined && !context.agents.has(agent)) {
    throw agentNotRegistered(executionId, agent);
  }
  const stop = await findStop(store, { executionId, owner });
  if (stop !== undefined) throw new ExecutionStoppedError(executionId, stop);
  const parent = owner?.kind === 'execution' ? owner.executionId : undefined;
  if (parent !== undefined) await noteChild(store, readExecutionId(parent), executionId);
  // The job first, and with all that is needed: a crash before the state is made good by whoever runs the job.
  const { key: _key, ...rest } = request;
  const payload = encodeExecutionJob({ executionId, request: rest });
  await context.engine.enqueue(EXECUTIONS_QUEUE, executionId, payload);
  await createState(context, request);
  if (parent !== undefined) {
    await notices
      .find(parent)
      ?.tell({ type: 'sub_agent_started', childExecutionId: executionId })
      // The owner's driver tells it later.
      .catch(() => {});
  }
  return await getState(store, executionId);
}

/** The same key again: what is there, and in the queue unless it has ended. */
async function goOn(
  { engine }: ExecutionContext,
  state: ContinuationState,
): Promise<ContinuationState> {
  const { executionId, outcome } = state;
  if (outcome === 'open') {
    await engine.enqueue(EXECUTIONS_QUEUE, executionId, encodeExecutionJob({ executionId }));
  }
  return state;
}

async function resumeExecution(context: ExecutionContext, executionId: string): Promise<void> {
  const { outcome } = await getState(context.store, executionId);
  if (outcome !== 'open') return;
  await dropWaits(context, executionId);
  await queueNow(context, executionId);
}

/** What is being driven waits for nothing. */
async function dropWaits(context: ExecutionContext, executionId: string): Promise<void> {
  const live = await openExecution(context, readExecutionId(executionId));
  if (typeof live === 'string') return;
  await using _live = live;
  await live.write(clearWaits);
}

function clearWaits(state: ContinuationState, at: string): ContinuationState {
  const waiting = PHASES.filter((phase) => {
    const record = state.phases[phase];
    return record && !isSettled(record.status) && (record.suspended || record.notBefore);
  });
  return waiting.reduce(
    (next, phase) =>
      changePhase(next, phase, { suspended: undefined, notBefore: undefined, updatedAt: at }),
    state,
  );
}

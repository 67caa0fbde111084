import { listChildren } from './execution-children.js';
import { EXECUTIONS_QUEUE, type ExecutionContext } from './execution-context.js';
import { encodeExecutionJob } from './execution-job.wire.js';
import { readExecutionId } from './execution-key.js';
import { findState, getState } from './execution-state.js';
import { writeStop } from './stop-fence.js';

/** Fences an execution and all it owns, and interrupts what runs of them here. What has ended is left as it is. */
export async function stopExecution(
  context: ExecutionContext,
  executionId: string,
  reason: string,
): Promise<void> {
  const { store, notices } = context;
  const key = readExecutionId(executionId);
  const state = await getState(store, executionId);
  if (state.outcome === 'open') {
    await writeStop(store, executionId, reason);
    // The driver waits for the turn's end; another process's driver sees the fence.
    notices
      .find(executionId)
      ?.turn()
      ?.interrupt()
      .catch(() => {});
    await queueNow(context, executionId);
  }
  for (const child of await listChildren(store, key)) {
    if (await findState(store, readExecutionId(child))) await stopExecution(context, child, reason);
  }
}

/** Has an execution driven as soon as possible, whatever it waits for. */
export async function queueNow({ engine }: ExecutionContext, executionId: string): Promise<void> {
  const payload = encodeExecutionJob({ executionId });
  await engine.enqueue(EXECUTIONS_QUEUE, executionId, payload, { wakes: true });
}

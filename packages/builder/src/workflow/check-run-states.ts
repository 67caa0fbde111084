import { listChildren } from '../executions/execution-children.js';
import { readExecutionId } from '../executions/execution-key.js';
import { findState } from '../executions/execution-state.js';
import { keys } from '../persistence/keys.js';
import type { Store } from '../persistence/store.js';
import { glanceAtState } from './state-glance.wire.js';
import { listSteps, MAIN_AGENT_STEP, type WorkflowDefinition } from './workflow-definition.js';
import type { RunKey } from './workflow-run.js';

/**
 * Throws the `StateUnusableError` of the first state that a run cannot go on without: a step of it, or what one of these owns. Its
 * driver tries again and again, so that the run goes on once the file is restored, and says nothing of it to who waits.
 */
export async function checkRunStates(
  store: Store,
  run: RunKey,
  workflow: WorkflowDefinition | undefined,
): Promise<void> {
  const begun = await store.list(keys.steps(run));
  const defined = workflow && [MAIN_AGENT_STEP, ...listSteps(workflow).map(({ id }) => id)];
  const left = begun.filter((step) => defined?.includes(step) ?? true);
  const seen = new Set(left);
  for (let step = left.shift(); step !== undefined; step = left.shift()) {
    await checkState(store, { ...run, step });
    for (const child of await listChildren(store, { ...run, step })) {
      const key = readExecutionId(child);
      if (!seen.has(key.step)) left.push(key.step);
      seen.add(key.step);
    }
  }
}

async function checkState(store: Store, key: RunKey & { readonly step: string }): Promise<void> {
  const read = await store.read(keys.state(key));
  if (read.state === 'present' && glanceAtState(read.value, key)) return;
  await findState(store, key);
}

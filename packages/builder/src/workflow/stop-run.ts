import type { BuilderContext } from '../builder-context.js';
import { executionIdOf } from '../executions/execution-key.js';
import type { Executions } from '../executions/executions.js';
import { keys } from '../persistence/keys.js';
import type { Store } from '../persistence/store.js';
import type { RunKey } from './workflow-run.js';

interface StopRun {
  readonly run: RunKey;
  readonly reason: string;
}

/** Writes the fence first, so that no step is begun after it, and then stops every execution that is open. */
export async function stopRun(
  { store }: BuilderContext,
  executions: Executions,
  { run, reason }: StopRun,
): Promise<void> {
  await store.write(keys.runStop(run), { reason });
  for (const state of await executions.list(run)) {
    if (state.outcome !== 'open') continue;
    await executions.stop(executionIdOf({ ...run, step: state.stepId }), reason);
  }
}

/** Why a run was stopped; `undefined` for one that was not. A fence that cannot be read still fences. */
export async function findRunStop(store: Store, run: RunKey): Promise<string | undefined> {
  const read = await store.read(keys.runStop(run));
  if (read.state === 'absent') return undefined;
  const isReason = (value: unknown): value is { readonly reason: string } =>
    typeof value === 'object' && value !== null && 'reason' in value;
  return read.state === 'present' && isReason(read.value) ? String(read.value.reason) : 'stopped';
}

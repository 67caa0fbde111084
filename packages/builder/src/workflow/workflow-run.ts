import type { ErrorJson } from '@holdfast/agent';
import { checkName, type ExecutionKey } from '../executions/execution-key.js';
import type { SessionOwner } from '../executions/execution-owner.js';
import type { JsonValue } from '../persistence/store.js';
import type { ContinuationState } from './continuation-state.js';

/** Which folder a run stands in: `runs/{iteration}/{group}`. */
export type RunKey = Pick<ExecutionKey, 'iteration' | 'group'>;

/** What is on disk of a run: `runs/{iteration}/{group}/run.json`. The steps' own states say how far it came. */
export interface RunRecord extends RunKey {
  readonly workflowId: string;
  readonly input: JsonValue;
  /** Whose session is told of the run's end, and of each step's where the workflow has no main agent. */
  readonly notify?: SessionOwner | undefined;
  readonly correlationId: string;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly outcome: ContinuationState['outcome'];
  /** Why it failed or was stopped. */
  readonly error?: ErrorJson | { readonly kind: string; readonly message: string } | undefined;
}

/** A run with the states of its executions, in the order of the definition. */
export interface RunView extends RunRecord {
  /** `{iteration}~{group}`. */
  readonly runId: string;
  readonly executions: readonly ContinuationState[];
}

/** The id of a run, from its place. */
export function runIdOf({ iteration, group }: RunKey): string {
  return `${iteration}~${group}`;
}

/** The place a run id names. What is none is a TypeError. */
export function readRunId(runId: string): RunKey {
  const [iteration, group, ...rest] = runId.split('~');
  if (iteration === undefined || group === undefined || rest.length > 0) {
    throw new TypeError(`${JSON.stringify(runId)} is no run id.`);
  }
  return { iteration: checkName(iteration), group: checkName(group) };
}

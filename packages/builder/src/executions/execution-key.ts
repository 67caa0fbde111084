/** Which folder an execution's state and logs stand in: `runs/{iteration}/{group}/logs/{step}`. */
export interface ExecutionKey {
  readonly iteration: string;
  readonly group: string;
  readonly step: string;
}

/** Who owns an execution, as it stands in its state file. */
export type OwnerKind =
  | 'workflow'
  | 'workflow_step'
  | 'todo_sub_step'
  | 'sub_agent'
  | 'background_agent';

/** Every owner kind. */
export const OWNER_KINDS: readonly OwnerKind[] = [
  'workflow',
  'workflow_step',
  'todo_sub_step',
  'sub_agent',
  'background_agent',
];

/** The id of an execution, from its place: `{iteration}~{group}~{step}`. The same step has the same id in every process. */
export function executionIdOf({ iteration, group, step }: ExecutionKey): string {
  return [iteration, group, step].map(checkName).join('~');
}

/** The place an execution id names. What is none is a TypeError. */
export function readExecutionId(executionId: string): ExecutionKey {
  const [iteration, group, step, ...rest] = executionId.split('~');
  if (iteration === undefined || group === undefined || step === undefined || rest.length > 0) {
    throw new TypeError(`${JSON.stringify(executionId)} is no execution id.`);
  }
  return { iteration: checkName(iteration), group: checkName(group), step: checkName(step) };
}

/** Returns a name that may stand in a path, or throws a TypeError: never a separator, never dots alone. */
export function checkName(name: string): string {
  if (/^[A-Za-z0-9._-]{1,80}$/.test(name) && !/^\.+$/.test(name)) return name;
  throw new TypeError(`${JSON.stringify(name)} is no name; use 1 to 80 of A-Z a-z 0-9 . _ -`);
}

/** What is killed at a moment of a run, in the order of how much goes with it. */
export const workflowTargets = ['service', 'pane', 'tmux_server', 'machine'] as const;

/** One target of a kill at a moment. */
export type WorkflowTarget = (typeof workflowTargets)[number];

/**
 * One kill of a run: of the service at the nth time that a named durable write is taken, or of a target once a share of
 * the time that an undisturbed run takes has gone by.
 */
export type WorkflowCell =
  | { readonly kind: 'write'; readonly point: string; readonly nth: number }
  | { readonly kind: 'moment'; readonly target: WorkflowTarget; readonly share: number };

/** The name under which kills are counted. */
export function pointOf(cell: WorkflowCell): string {
  return cell.kind === 'write' ? cell.point : `moment:${cell.target}`;
}

/** A cell in words, for people who watch. */
export function nameWorkflowCell(cell: WorkflowCell): string {
  return cell.kind === 'write'
    ? `${cell.point}:${cell.nth}`
    : `${pointOf(cell)} at ${cell.share.toFixed(2)} of a run`;
}

/** The same kill where it comes sooner in a run: what was aimed at may not come as often after another kill. */
export function sooner(cell: WorkflowCell): WorkflowCell {
  return cell.kind === 'write' ? { ...cell, nth: 1 } : { ...cell, share: cell.share / 2 };
}

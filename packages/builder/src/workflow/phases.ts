/** The phases of an execution, in the order they run. */
export const PHASES = [
  'main_execution',
  'pre_validation',
  'kb_review',
  'direct_learning',
  'learning_agent',
  'kb_update_agent',
  'auto_notification',
] as const;

/** One durable piece of an execution. */
export type Phase = (typeof PHASES)[number];

/** How far a phase came. The words are those of schema 1. */
export type PhaseStatus =
  | 'pending'
  | 'running'
  | 'waiting_for_lock'
  | 'recovery_queued'
  | 'completed'
  | 'failed'
  | 'skipped';

/** Whether nothing of the phase is left to do. */
export function isSettled(status: PhaseStatus): boolean {
  return status === 'completed' || status === 'failed' || status === 'skipped';
}

import { createHash } from 'node:crypto';
import type { ExecutionKey } from './execution-key.js';

/** The UUID of a run as the owner of coding threads: the same for each step and after each restart, another for each run. */
export function workflowProcessId({
  iteration,
  group,
}: Pick<ExecutionKey, 'iteration' | 'group'>): string {
  const bytes = createHash('sha256').update(`holdfast:run:${iteration}/${group}`).digest();
  // Version 8: made by a rule of our own.
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x80;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  const hex = bytes.toString('hex', 0, 16);
  const ends = [8, 12, 16, 20, 32];
  return ends.map((end, index) => hex.slice(ends[index - 1] ?? 0, end)).join('-');
}

import type { JsonValue } from '../../persistence/store.js';
import { CodingThreadError } from '../coding-thread-error.js';

/** A repository or a place that no workspace is made of. */
export function workspaceRefused(
  message: string,
  evidence: JsonValue,
  options?: ErrorOptions,
): CodingThreadError {
  return new CodingThreadError('workspace_refused', message, { evidence }, options);
}

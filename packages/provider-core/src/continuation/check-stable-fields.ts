import { StaleHandleError } from '../errors/continuation-error.js';
import type { StableField } from '../spec/capabilities.js';

/** Throws {@link StaleHandleError} naming the first stable field whose digest differs. */
export function checkStableFields(
  provider: string,
  stored: Readonly<Record<string, string>>,
  given: Readonly<Record<string, string>>,
  fields: readonly StableField[],
): void {
  for (const field of fields) {
    const old = stored[field];
    const current = given[field];
    if (old !== undefined && current !== undefined && old !== current) {
      throw new StaleHandleError(provider, field, { old, new: current });
    }
  }
}

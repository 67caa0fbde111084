import type { CodingProviderSessionHandle } from '../spec/provider-session-handle.js';
import { decodeCodingProviderSessionHandle } from '../wire/provider-session-handle.wire.js';

/** Takes a handle in either spelling, camelCase as the API gives it or snake_case as JSON has it, or as JSON text. */
export function decodeHandle(
  value: CodingProviderSessionHandle | Readonly<Record<string, unknown>> | string,
): CodingProviderSessionHandle {
  if (typeof value === 'string') return decodeCodingProviderSessionHandle(value);
  const spelled = Object.entries(value).map(([key, field]) => [WIRE_NAMES.get(key) ?? key, field]);
  return decodeCodingProviderSessionHandle(Object.fromEntries(spelled));
}

const WIRE_NAMES: ReadonlyMap<string, string> = new Map([
  ['nativeSessionId', 'native_session_id'],
  ['tmuxSession', 'tmux_session'],
  ['workingDir', 'working_dir'],
  ['projectDirId', 'project_dir_id'],
  ['schemaVersion', 'schema_version'],
  ['stableFields', 'stable_fields'],
  ['lastTurnId', 'last_turn_id'],
]);

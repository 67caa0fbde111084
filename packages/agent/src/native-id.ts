import type { AgentSessionHandle } from './agent-session-handle.js';

/** The provider's own id of the session behind a handle: to be kept and compared, never to be built into a command. */
export function nativeIdOf(handle: AgentSessionHandle): string | undefined {
  return handle.provider.nativeSessionId;
}

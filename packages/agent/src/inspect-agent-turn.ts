import { inspectCodingAgentTurn, type TurnInspection } from '@holdfast/provider-core';
import type { AgentSessionHandle } from './agent-session-handle.js';

/** What journal, provider's record and process prove of one turn of a session, read-only, whoever drove it. */
export async function inspectAgentTurn(
  handle: AgentSessionHandle,
  turnId: string,
  options: { readonly stateDir?: string | undefined } = {},
): Promise<TurnInspection> {
  return await inspectCodingAgentTurn(handle.provider, turnId, options);
}

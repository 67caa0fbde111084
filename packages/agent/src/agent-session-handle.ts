import type { CodingProviderSessionHandle } from '@holdfast/provider-core';

/** What an agent session is for; a newer writer may know more. */
export type AgentScope =
  | 'chat'
  | 'workflow'
  | 'workflow_step'
  | 'sub_agent'
  | 'background_agent'
  | 'coding_thread';

/**
 * A JSON-safe record that finds one agent session again. Opaque above this package: store it,
 * hand it back. Keys this version does not know survive a round trip.
 */
export interface AgentSessionHandle {
  readonly agentId: string;
  /** Our own id of the session; it stays the same when the provider's process is replaced. */
  readonly sessionId: string;
  /** Chosen by the layer above, never read here. */
  readonly ownerId: string;
  /** An {@link AgentScope}, or what an older or newer system wrote. */
  readonly scope: string;
  readonly correlationId: string;
  readonly provider: CodingProviderSessionHandle;
}

/** Who an agent session belongs to: every field of the handle but the provider's. */
export type AgentIdentity = Omit<AgentSessionHandle, 'provider'>;

import { Agent, type AgentOptions } from '@holdfast/agent';
import { UnknownAgentError } from './chat/chat-error.js';

/** What an agent is made for. */
export interface AgentContext {
  /** The id under which the agent was registered. */
  readonly agent: string;
  readonly chatId: string;
}

/** An agent's options, or what makes them for one chat. Identity fields are the builder's and replaced. */
export type AgentSource = AgentOptions | ((context: AgentContext) => AgentOptions);

/** The agents that stored work may name, by id. */
export interface AgentRegistry {
  readonly has: (agent: string) => boolean;
  /** A new agent for a chat; an id nobody registered is an {@link UnknownAgentError}. */
  readonly create: (context: AgentContext) => Agent;
}

/** Keeps the sources by id. Nothing is made before it is needed. */
export function createAgentRegistry(sources: Readonly<Record<string, AgentSource>>): AgentRegistry {
  const known = new Map(Object.entries(sources));
  return {
    has: (agent) => known.has(agent),
    create: (context) => {
      const source = known.get(context.agent);
      if (!source) throw new UnknownAgentError(context.chatId, context.agent);
      const options = typeof source === 'function' ? source(context) : source;
      return new Agent({ ...options, ...identityFor(context) });
    },
  };
}

/** One agent id a chat: the durable queue of one chat is not another's. */
function identityFor({ agent, chatId }: AgentContext) {
  return {
    agentId: `${agent}:${chatId}`,
    sessionId: chatId,
    ownerId: chatId,
    scope: 'chat',
    correlationId: chatId,
  } as const;
}

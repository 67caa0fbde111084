import { Agent, type AgentOptions, type AgentScope } from '@holdfast/agent';

/** What an agent is made for. */
export interface AgentContext {
  /** The id under which the agent was registered. */
  readonly agent: string;
  readonly scope: AgentScope;
  /** Our id of the session: the chat's, the execution's, or the execution's with the phase that has a session of its own. */
  readonly sessionId: string;
  readonly correlationId: string;
  /** Set when the session is a chat's. */
  readonly chatId?: string | undefined;
  /** Set when the session is an execution's. */
  readonly executionId?: string | undefined;
}

/** An agent's options, or what makes them for one session. Identity fields are the builder's and replaced. */
export type AgentSource = AgentOptions | ((context: AgentContext) => AgentOptions);

/** Changes the options of every agent before it is made, e.g. to give it an MCP server of the builder's. */
export type AgentEquipment = (options: AgentOptions, context: AgentContext) => AgentOptions;

/** The agents that stored work may name, by id. */
export interface AgentRegistry {
  readonly has: (agent: string) => boolean;
  /** A new agent for a session. Only for an id that `has` knows. */
  readonly create: (context: AgentContext) => Agent;
}

/** Keeps the sources by id. Nothing is made before it is needed. */
export function createAgentRegistry(
  sources: Readonly<Record<string, AgentSource>>,
  equip: AgentEquipment = (options) => options,
): AgentRegistry {
  const known = new Map(Object.entries(sources));
  return {
    has: (agent) => known.has(agent),
    create: (context) => {
      const source = known.get(context.agent);
      if (!source) throw new Error('unreachable: the agent was looked for before');
      const options = typeof source === 'function' ? source(context) : source;
      return new Agent({ ...equip(options, context), ...identityFor(context) });
    },
  };
}

/** One agent id a session: the durable queue of one is not another's. */
function identityFor({
  agent,
  sessionId,
  scope,
  correlationId,
  chatId,
  executionId,
}: AgentContext) {
  return {
    agentId: `${agent}:${sessionId}`,
    sessionId,
    ownerId: chatId ?? executionId ?? sessionId,
    scope,
    correlationId,
  } as const;
}

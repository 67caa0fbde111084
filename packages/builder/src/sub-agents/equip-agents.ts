import type { AgentOptions } from '@holdfast/agent';
import type { AgentContext, AgentEquipment } from '../agents.js';
import type { SessionOwner } from '../executions/execution-owner.js';

/** The name of the server among an agent's own. */
const BRIDGE_SERVER_NAME = 'holdfast';

/** Stands for address and token where sessions are compared: these may change with a restart. */
const STABLE_AS = 'holdfast-builder';

/** Where the tools are, for one session. */
export interface BridgeAddress {
  readonly url: string;
  readonly tokenFor: (owner: SessionOwner) => string;
}

/** Gives an agent the builder's tools. A server of the same name that a user made is a TypeError. */
export function equipWith(find: () => BridgeAddress): AgentEquipment {
  return (options, context) => {
    const owner = ownerOf(context);
    // Nobody could be told of a sub-agent's end.
    if (!owner) return options;
    if (options.mcpServers && Object.hasOwn(options.mcpServers, BRIDGE_SERVER_NAME)) {
      throw new TypeError(
        `The agent ${context.agent} has an MCP server named ${BRIDGE_SERVER_NAME}, which is the builder's own. Give yours another name.`,
      );
    }
    return withServer(options, find(), owner);
  };
}

function withServer(
  options: AgentOptions,
  { url, tokenFor }: BridgeAddress,
  owner: SessionOwner,
): AgentOptions {
  const server = {
    url,
    headers: { Authorization: `Bearer ${tokenFor(owner)}` },
    stableAs: STABLE_AS,
  };
  return { ...options, mcpServers: { ...options.mcpServers, [BRIDGE_SERVER_NAME]: server } };
}

function ownerOf({ chatId, executionId }: AgentContext): SessionOwner | undefined {
  if (executionId !== undefined) return { kind: 'execution', executionId };
  return chatId === undefined ? undefined : { kind: 'chat', chatId };
}

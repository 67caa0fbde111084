import type { IncomingMessage, ServerResponse } from 'node:http';
import type { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import * as z from 'zod';
import type { ToolAnswer } from './sub-agent-call.js';
import type { SubAgentTools } from './sub-agent-tools.js';

/** One message of the protocol and where its answer goes. */
export interface ProtocolExchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** The message, parsed. */
  readonly body: unknown;
}

/** What one session is served. */
export interface SubAgentServerOptions {
  readonly tools: SubAgentTools;
  /** The ids that may be called, for the model that reads the tool's description. */
  readonly agents: readonly string[];
  /** What is said of a tool that failed. */
  readonly describeFailure: (tool: string, error: unknown) => string;
}

/**
 * Loads the protocol, and gives what answers one message with it. Nothing is kept between two messages, so that another
 * process may answer the next one.
 */
export async function loadSubAgentServer(): Promise<
  (options: SubAgentServerOptions, exchange: ProtocolExchange) => Promise<void>
> {
  const [{ McpServer }, { StreamableHTTPServerTransport }] = await Promise.all([
    import('@modelcontextprotocol/sdk/server/mcp.js'),
    import('@modelcontextprotocol/sdk/server/streamableHttp.js'),
  ]);
  return async (options, { request, response, body }) => {
    const server = new McpServer(IMPLEMENTATION, { instructions: INSTRUCTIONS });
    registerTools(server, options);
    const transport = new StreamableHTTPServerTransport({ enableJsonResponse: true });
    response.once('close', () => void server.close().catch(() => {}));
    await server.connect(transport as Parameters<McpServer['connect']>[0]);
    await transport.handleRequest(request, response, body);
  };
}

const IMPLEMENTATION = { name: 'holdfast', version: '1' };

const INSTRUCTIONS =
  'call_sub_agent starts an agent and returns its execution_id at once. When it ends, a message beginning with [AUTO-NOTIFICATION] tells you. Do not wait or poll for it: end your turn, or go on with other work.';

const executionInput = { execution_id: z.string().min(1).max(300) };

function registerTools(server: McpServer, options: SubAgentServerOptions): void {
  const { tools, agents } = options;
  server.registerTool(
    'call_sub_agent',
    {
      description: `Starts a sub-agent with a prompt of its own and returns its execution_id at once. It does not see this conversation. Agents: ${agents.join(', ')}.`,
      inputSchema: callInput(agents),
    },
    async (input) => answer(options, 'call_sub_agent', () => tools.call(input)),
  );
  server.registerTool(
    'get_sub_agent',
    {
      description: 'Tells the state of a sub-agent that you started, and its whole answer.',
      inputSchema: executionInput,
      annotations: { readOnlyHint: true },
    },
    async (input) =>
      answer(options, 'get_sub_agent', () => tools.get({ executionId: input.execution_id })),
  );
  server.registerTool(
    'list_sub_agents',
    {
      description: 'Lists the sub-agents that you started.',
      inputSchema: {},
      annotations: { readOnlyHint: true },
    },
    async () => answer(options, 'list_sub_agents', tools.list),
  );
  server.registerTool(
    'stop_sub_agent',
    {
      description: 'Stops a sub-agent that you started. One that ended is left as it is.',
      inputSchema: executionInput,
      annotations: { idempotentHint: true },
    },
    async (input) =>
      answer(options, 'stop_sub_agent', () => tools.stop({ executionId: input.execution_id })),
  );
}

function callInput(agents: readonly string[]) {
  return {
    agent: z
      .string()
      .min(1)
      .max(200)
      .describe(`One of: ${agents.join(', ')}.`),
    prompt: z.string().regex(/\S/).describe('All it is told. It has no other context.'),
    notify: z.boolean().optional().describe('Whether you are told of its end. Default: true.'),
    background: z
      .boolean()
      .optional()
      .describe('Whether it goes on when you end or are stopped. Default: false.'),
    key: z
      .string()
      .min(1)
      .max(200)
      .optional()
      .describe('The same key again is the same sub-agent: nothing is started twice.'),
  };
}

async function answer(
  { describeFailure }: SubAgentServerOptions,
  tool: string,
  act: () => Promise<ToolAnswer>,
) {
  const given = await act().catch((error: unknown) => ({ refusal: describeFailure(tool, error) }));
  const isError = given.refusal !== undefined;
  const text = given.refusal === undefined ? JSON.stringify(given.value, null, 2) : given.refusal;
  return { content: [{ type: 'text' as const, text }], isError };
}

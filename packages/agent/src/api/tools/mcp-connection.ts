import { CliUnusableError, type McpServer } from '@holdfast/provider-core';
import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { BoxedTool, CallOptions, ToolResult } from './tool-box.js';
import { modelToolName } from './tool-names.js';
import { writeToolOutput } from './tool-output.js';

/** What a connection is made with. */
export interface McpConnectionOptions {
  readonly name: string;
  readonly server: McpServer;
  /** Where a stdio server is started; the service's own directory when absent. */
  readonly workingDir?: string | undefined;
  readonly openMs: number;
  readonly signal: AbortSignal;
}

/** One MCP server, connected until it dies or is closed. */
export interface McpConnection {
  /** False once the server or its connection is gone. */
  readonly isOpen: () => boolean;
  readonly tools: (signal: AbortSignal) => Promise<readonly McpTool[]>;
  readonly call: (tool: string, input: unknown, options: CallOptions) => Promise<ToolResult>;
  /** Ends the connection, and the server's process where it has one; tells how many processes that were. */
  readonly close: () => Promise<number>;
}

/** A tool under both of its names. */
export interface McpTool extends BoxedTool {
  /** The name its server knows it by. */
  readonly ownName: string;
}

/**
 * Connects one server. A server that cannot be reached is a `cli_unusable` error, and leaves no process behind.
 * The client is loaded here, so that an agent without servers never pays for it.
 */
export async function openMcpConnection(options: McpConnectionOptions): Promise<McpConnection> {
  const { name, signal, openMs } = options;
  const { Client } = await import('@modelcontextprotocol/sdk/client/index.js');
  const client = new Client({ name: 'holdfast', version: '1' });
  const link = await openLink(options);
  let isOpen = true;
  let areToolsKnown = false;
  client.onclose = () => {
    isOpen = false;
  };
  const close = async () => {
    const processes = isOpen ? link.processes : 0;
    if (isOpen) await link.sayGoodbye().catch(() => {});
    await client.close();
    return processes;
  };
  try {
    await client.connect(link.transport, { signal, timeout: openMs });
    await watchTools(client, () => {
      areToolsKnown = false;
    });
  } catch (error) {
    await close().catch(() => {});
    signal.throwIfAborted();
    throw unreachableServer(name, error);
  }
  let known: readonly McpTool[] = [];
  const tools = async (reading: AbortSignal) => {
    if (areToolsKnown) return known;
    // Before the list is asked for: a change that is told meanwhile must not be lost.
    areToolsKnown = true;
    known = await listTools(client, name, { signal: reading, timeout: openMs });
    return known;
  };
  return {
    isOpen: () => isOpen,
    tools,
    close,
    call: (tool, input, how) => callTool(client, tool, input, how),
  };
}

interface Link {
  readonly transport: Transport;
  readonly processes: number;
  readonly sayGoodbye: () => Promise<void>;
}

async function openLink({ server, workingDir }: McpConnectionOptions): Promise<Link> {
  if ('command' in server) {
    const { StdioClientTransport } = await import('@modelcontextprotocol/sdk/client/stdio.js');
    // The client adds these to a short allow list of its own; nothing else of our environment goes along.
    const { command, args = [], env = {} } = server;
    const transport = new StdioClientTransport({
      command,
      args: [...args],
      env: { ...env },
      stderr: 'ignore',
      ...(workingDir === undefined ? {} : { cwd: workingDir }),
    });
    return { transport, processes: 1, sayGoodbye: async () => {} };
  }
  const { StreamableHTTPClientTransport } = await import(
    '@modelcontextprotocol/sdk/client/streamableHttp.js'
  );
  const requestInit = { headers: { ...server.headers } };
  const transport = new StreamableHTTPClientTransport(new URL(server.url), { requestInit });
  return { transport, processes: 0, sayGoodbye: () => transport.terminateSession() };
}

async function watchTools(client: Client, onChange: () => void): Promise<void> {
  const { ToolListChangedNotificationSchema } = await import('@modelcontextprotocol/sdk/types.js');
  client.setNotificationHandler(ToolListChangedNotificationSchema, onChange);
}

async function listTools(
  client: Client,
  server: string,
  how: { readonly signal: AbortSignal; readonly timeout: number },
): Promise<readonly McpTool[]> {
  if (!client.getServerCapabilities()?.tools) return [];
  const tools: McpTool[] = [];
  let cursor: string | undefined;
  do {
    const page = await client.listTools(cursor === undefined ? {} : { cursor }, how);
    for (const { name, description, inputSchema, annotations } of page.tools) {
      tools.push({
        name: modelToolName(server, name),
        ownName: name,
        description: description?.toWellFormed(),
        inputSchema,
        traits: {
          isReadOnly: annotations?.readOnlyHint === true,
          isIdempotent: annotations?.idempotentHint === true,
        },
      });
    }
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  return tools;
}

async function callTool(
  client: Client,
  tool: string,
  input: unknown,
  { signal, inactivityMs }: CallOptions,
): Promise<ToolResult> {
  const result = await client.callTool({ name: tool, arguments: argumentsOf(input) }, undefined, {
    signal,
    timeout: inactivityMs,
    resetTimeoutOnProgress: true,
    onprogress: () => {},
  });
  return { output: writeToolOutput(result), isError: result.isError === true };
}

/** What is no object cannot be sent; the server then says what it misses. */
function argumentsOf(input: unknown): Record<string, unknown> {
  const isObject = typeof input === 'object' && input !== null && !Array.isArray(input);
  return isObject ? { ...input } : {};
}

function unreachableServer(name: string, error: unknown): CliUnusableError {
  const detail = error instanceof Error ? error.message : String(error);
  const isMissing = error instanceof Error && 'code' in error && error.code === 'ENOENT';
  return new CliUnusableError(
    `The MCP server ${name}`,
    isMissing ? 'missing' : 'unresponsive',
    `${detail}. Nothing was sent; call again with the same turnId once it is up.`,
    { cause: error },
  );
}

import type { McpServer } from '@holdfast/provider-core';
import { type McpConnection, type McpTool, openMcpConnection } from './mcp-connection.js';
import type { BoxedTool, CallOptions, ToolBox, ToolResult } from './tool-box.js';

interface McpToolBoxOptions {
  readonly servers: Readonly<Record<string, McpServer>>;
  readonly workingDir?: string | undefined;
  readonly openMs: number;
}

/** The tools of all configured MCP servers: one client a server, kept between turns, connected again once it died. */
export class McpToolBox implements ToolBox {
  readonly #options: McpToolBoxOptions;
  readonly #connections = new Map<string, McpConnection>();
  readonly #places = new Map<string, { readonly server: string; readonly tool: McpTool }>();

  constructor(options: McpToolBoxOptions) {
    this.#options = options;
  }

  async open(signal: AbortSignal): Promise<readonly BoxedTool[]> {
    const names = Object.keys(this.#options.servers);
    const opened = await Promise.allSettled(names.map((name) => this.#toolsOf(name, signal)));
    const failed = opened.find((one) => one.status === 'rejected');
    if (failed) throw failed.reason;
    this.#places.clear();
    const tools = opened.flatMap((one) => (one.status === 'fulfilled' ? one.value : []));
    for (const { server, tool } of tools) this.#places.set(tool.name, { server, tool });
    return tools.map(({ tool }) => tool);
  }

  async call(name: string, input: unknown, options: CallOptions): Promise<ToolResult> {
    const place = this.#places.get(name);
    if (!place) return { output: `There is no tool ${name}.`, isError: true };
    try {
      return await this.#callIn(place.server, place.tool.ownName, input, options);
    } catch (error) {
      options.signal.throwIfAborted();
      return { output: describeFailure(error), isError: true };
    }
  }

  async close(): Promise<number> {
    const open = [...this.#connections.values()];
    this.#connections.clear();
    const ended = await Promise.all(open.map((one) => one.close()));
    return ended.reduce((sum, count) => sum + count, 0);
  }

  async #callIn(server: string, tool: string, input: unknown, options: CallOptions) {
    const connection = await this.#connect(server, options.signal);
    try {
      return await connection.call(tool, input, options);
    } catch (error) {
      if (!isUnknownSession(error)) throw error;
      // The server was started anew and does not know our connection: it refused the call before it looked at it.
      await this.#drop(server, connection);
      const again = await this.#connect(server, options.signal);
      return await again.call(tool, input, options);
    }
  }

  async #toolsOf(server: string, signal: AbortSignal) {
    let connection = await this.#connect(server, signal);
    let tools: readonly McpTool[];
    try {
      tools = await connection.tools(signal);
    } catch {
      signal.throwIfAborted();
      await this.#drop(server, connection);
      connection = await this.#connect(server, signal);
      tools = await connection.tools(signal);
    }
    return tools.map((tool) => ({ server, tool }));
  }

  async #drop(server: string, connection: McpConnection): Promise<void> {
    this.#connections.delete(server);
    await connection.close().catch(() => {});
  }

  async #connect(name: string, signal: AbortSignal): Promise<McpConnection> {
    const known = this.#connections.get(name);
    if (known?.isOpen()) return known;
    if (known) await this.#drop(name, known);
    const server = this.#options.servers[name];
    if (!server) throw new Error('unreachable: a tool comes from a configured server');
    const { workingDir, openMs } = this.#options;
    const connection = await openMcpConnection({ name, server, workingDir, openMs, signal });
    this.#connections.set(name, connection);
    return connection;
  }
}

/** HTTP 404, by which a server says that it does not know the session a request names. */
function isUnknownSession(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 404;
}

function describeFailure(error: unknown): string {
  const detail = error instanceof Error ? error.message : String(error);
  return `The tool call failed: ${detail}. It may have taken effect.`;
}

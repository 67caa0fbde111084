import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';

/** A real MCP server over streamable HTTP, with sessions; it may forget them all, as a restarted one does. */
export interface HttpMcpServer extends AsyncDisposable {
  readonly url: string;
  readonly calls: string[];
  readonly headers: IncomingMessage['headers'][];
  readonly sessions: () => number;
  readonly forget: () => void;
}

export async function createHttpMcpServer(): Promise<HttpMcpServer> {
  const transports = new Map<string, StreamableHTTPServerTransport>();
  const calls: string[] = [];
  const headers: IncomingMessage['headers'][] = [];

  const open = async () => {
    const transport: StreamableHTTPServerTransport = new StreamableHTTPServerTransport({
      sessionIdGenerator: () => randomUUID(),
      onsessioninitialized: (id) => void transports.set(id, transport),
      onsessionclosed: (id) => void transports.delete(id),
    });
    const server = new McpServer({ name: 'http-fixture', version: '1' });
    server.registerTool('ping', {}, () => {
      calls.push('ping');
      return { content: [{ type: 'text', text: 'pong' }] };
    });
    await server.connect(transport as Parameters<typeof server.connect>[0]);
    return transport;
  };
  const handle = async (request: IncomingMessage, response: ServerResponse) => {
    headers.push(request.headers);
    const id = request.headers['mcp-session-id'];
    const known = typeof id === 'string' ? transports.get(id) : undefined;
    if (id !== undefined && !known) {
      response.writeHead(404).end(JSON.stringify({ error: 'no such session' }));
      return;
    }
    await (known ?? (await open())).handleRequest(request, response);
  };
  const http = createServer((request, response) => {
    handle(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  const { port } = http.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    calls,
    headers,
    sessions: () => transports.size,
    forget: () => transports.clear(),
    [Symbol.asyncDispose]: async () => {
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
    },
  };
}

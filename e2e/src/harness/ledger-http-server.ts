import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { createLedgerServer } from './ledger-tools.js';

/** The ledger's tools over streamable HTTP, in this process: it outlives every service that calls them. */
export interface LedgerHttpServer {
  readonly url: string;
  readonly stop: () => Promise<void>;
}

/** Starts the server on a loopback address. */
export async function startLedgerHttpServer(ledger: string): Promise<LedgerHttpServer> {
  const transports = new Map<string, StreamableHTTPServerTransport>();
  const open = async () => {
    const transport: StreamableHTTPServerTransport = new StreamableHTTPServerTransport({
      sessionIdGenerator: () => randomUUID(),
      onsessioninitialized: (id) => void transports.set(id, transport),
      onsessionclosed: (id) => void transports.delete(id),
    });
    const server = createLedgerServer(ledger);
    await server.connect(transport as Parameters<typeof server.connect>[0]);
    return transport;
  };
  const handle = async (request: IncomingMessage, response: ServerResponse) => {
    const id = request.headers['mcp-session-id'];
    const known = typeof id === 'string' ? transports.get(id) : undefined;
    await (known ?? (await open())).handleRequest(request, response);
  };
  const http = createServer((request, response) => {
    handle(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  const address = http.address();
  if (address === null || typeof address === 'string') throw new Error('The server has no port.');
  return {
    url: `http://127.0.0.1:${address.port}/mcp`,
    stop: async () => {
      for (const transport of transports.values()) await transport.close();
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
    },
  };
}

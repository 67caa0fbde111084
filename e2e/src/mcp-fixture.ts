import { createInterface } from 'node:readline';

/** An MCP server over stdio with one tool, as small as the protocol allows. */
const tool = {
  name: 'light_the_lantern',
  description: 'Lights the lantern.',
  inputSchema: { type: 'object', properties: {} },
};

interface Request {
  readonly id?: number | string;
  readonly method?: string;
  readonly params?: { readonly protocolVersion?: string };
}

const results: Readonly<Record<string, (request: Request) => unknown>> = {
  initialize: ({ params }) => ({
    protocolVersion: params?.protocolVersion ?? '2025-06-18',
    capabilities: { tools: {} },
    serverInfo: { name: 'lantern', version: '1.0.0' },
  }),
  'tools/list': () => ({ tools: [tool] }),
  'tools/call': () => ({ content: [{ type: 'text', text: 'The lantern is lit.' }] }),
  ping: () => ({}),
};

for await (const line of createInterface({ input: process.stdin })) {
  const request: Request = JSON.parse(line);
  if (request.id === undefined) continue;
  const answer = results[request.method ?? ''];
  const body = answer
    ? { result: answer(request) }
    : { error: { code: -32601, message: `Unknown method ${request.method}` } };
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id: request.id, ...body })}\n`);
}

import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

/** A real MCP client, as a CLI has one: connected once, with its address and token. */
export interface McpSession extends AsyncDisposable {
  readonly tools: () => Promise<readonly string[]>;
  /** The parsed answer of a tool, or its refusal. */
  readonly call: (tool: string, input?: Record<string, unknown>) => Promise<ToolAnswer>;
}

export interface ToolAnswer {
  readonly value?: Record<string, never>;
  readonly refusal?: string;
}

export async function connectSession(
  url: string,
  headers: Readonly<Record<string, string>>,
): Promise<McpSession> {
  const client = new Client({ name: 'some-cli', version: '1' });
  const transport = new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } });
  await client.connect(transport as Parameters<typeof client.connect>[0]);
  return {
    tools: async () => (await client.listTools()).tools.map(({ name }) => name),
    call: async (tool, input = {}) => {
      const { content, isError } = await client.callTool({ name: tool, arguments: input });
      const [{ text }] = content as [{ text: string }];
      return isError ? { refusal: text } : { value: JSON.parse(text) };
    },
    [Symbol.asyncDispose]: () => client.close(),
  };
}

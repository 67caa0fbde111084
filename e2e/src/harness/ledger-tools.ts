import { appendFileSync, existsSync, openSync, readFileSync } from 'node:fs';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import {
  CallToolRequestSchema,
  type CallToolResult,
  ListToolsRequestSchema,
} from '@modelcontextprotocol/sdk/types.js';

const inputSchema = {
  type: 'object' as const,
  properties: { tag: { type: 'string' }, trick: { type: 'string' } },
  required: ['tag'],
};

const tools = [
  { name: 'append', description: 'Appends a line.', inputSchema },
  {
    name: 'look',
    description: 'Looks at a line.',
    inputSchema,
    annotations: { readOnlyHint: true },
  },
];

/** Beside the ledger stands the pid of the process that runs the turn, which a tool may have to kill. */
export function victimPath(ledger: string): string {
  return `${ledger}.victim`;
}

/** A real MCP server, by the official SDK, that writes down every effect its tools have. */
export function createLedgerServer(ledger: string): Server {
  const server = new Server({ name: 'ledger', version: '1' }, { capabilities: { tools: {} } });
  server.setRequestHandler(ListToolsRequestSchema, () => ({ tools }));
  server.setRequestHandler(CallToolRequestSchema, ({ params }, { signal }) => {
    const { tag, trick } = params.arguments ?? {};
    return act(ledger, { isLook: params.name === 'look', tag: String(tag), trick, signal });
  });
  return server;
}

interface Deed {
  readonly isLook: boolean;
  readonly tag: string;
  readonly trick: unknown;
  readonly signal: AbortSignal;
}

function act(ledger: string, deed: Deed): CallToolResult | Promise<CallToolResult> {
  const { isLook, tag, trick, signal } = deed;
  // Whoever was killed before the effect never has it: this server dies with its service, or is told to forget.
  if (trick === 'kill_before' && strikeOnce(ledger, tag)) return new Promise(() => {});
  appendFileSync(ledger, `${tag}\n`);
  if (trick === 'kill_after') strikeOnce(ledger, tag);
  if (trick !== 'hang') return textOf(`${isLook ? 'saw' : 'wrote'} ${tag}`);
  return new Promise((resolve) => {
    signal.addEventListener('abort', () => {
      appendFileSync(ledger, `cancelled ${tag}\n`);
      resolve(textOf('cancelled'));
    });
  });
}

/** Kills the service that called, the first time only. */
function strikeOnce(ledger: string, tag: string): boolean {
  const mark = `${ledger}.struck-${tag}`;
  if (existsSync(mark)) return false;
  openSync(mark, 'wx');
  process.kill(Number(readFileSync(victimPath(ledger), 'utf8')), 'SIGKILL');
  return true;
}

function textOf(text: string): CallToolResult {
  return { content: [{ type: 'text', text }] };
}

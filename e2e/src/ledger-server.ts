import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { createLedgerServer } from './harness/ledger-tools.js';

/** An MCP server over stdio whose tools append what they did to the ledger that is its one argument. */
await createLedgerServer(process.argv[2] ?? '').connect(new StdioServerTransport());

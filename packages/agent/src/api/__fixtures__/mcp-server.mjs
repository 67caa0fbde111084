// A real MCP server over stdio: appends every call to the file it is given, so that a test counts what was really done.
import { appendFileSync } from 'node:fs';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { z } from 'zod';

const [, , log] = process.argv;
const note = (line) => appendFileSync(log, `${line}\n`);
const text = (value) => ({ content: [{ type: 'text', text: value }] });

const server = new McpServer({ name: 'fixture', version: '1' });
server.registerTool('add', { inputSchema: { a: z.number(), b: z.number() } }, ({ a, b }) => {
  note(`add ${a} ${b}`);
  return text(String(a + b));
});
server.registerTool('look', { annotations: { readOnlyHint: true } }, () => {
  note('look');
  return text('seen');
});
server.registerTool('fail', {}, () => {
  note('fail');
  throw new Error('out of paper');
});
server.registerTool('environment', { annotations: { readOnlyHint: true } }, () =>
  text(JSON.stringify({ names: Object.keys(process.env).sort(), cwd: process.cwd() })),
);
server.registerTool('hang', {}, (extra) => {
  note('hang');
  return new Promise((resolve) => {
    extra.signal.addEventListener('abort', () => {
      note('cancelled');
      resolve(text('cancelled'));
    });
  });
});
server.registerTool('die', {}, () => {
  note('die');
  process.exit(1);
});
server.registerTool('picture', {}, () => ({
  content: [
    { type: 'text', text: 'here' },
    { type: 'image', data: 'AAAA', mimeType: 'image/png' },
  ],
}));

note(`started ${process.pid}`);
await server.connect(new StdioServerTransport());

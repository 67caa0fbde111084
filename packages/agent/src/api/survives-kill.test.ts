import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { waitUntil } from '@holdfast/provider-core';
import { build } from 'vite';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';

/** Real processes that are really killed: they run the bundle of what is tested, since Node 20 runs no TypeScript. */
let bundleDir = '';
let dir = '';

const pathOf = (relative: string) => fileURLToPath(new URL(relative, import.meta.url));

beforeAll(async () => {
  bundleDir = await mkdtemp(join(tmpdir(), 'holdfast-'));
  const entry = join(bundleDir, 'agent.ts');
  const core = '../../../provider-core/src';
  const parts = [
    `export { Agent } from ${JSON.stringify(pathOf('../agent.ts'))};`,
    `export { registerModelProvider } from ${JSON.stringify(pathOf(`${core}/index.ts`))};`,
    `export { setFaultHook } from ${JSON.stringify(pathOf(`${core}/state/fault-point.ts`))};`,
  ];
  await writeFile(entry, parts.join('\n'));
  const conditions = ['@holdfast/source', 'node', 'module', 'default'];
  await build({
    configFile: false,
    logLevel: 'silent',
    root: pathOf('.'),
    ssr: { noExternal: true, external: OPTIONAL, resolve: { conditions } },
    build: { ssr: entry, outDir: join(bundleDir, 'out'), target: 'node20' },
  });
  await writeFile(join(bundleDir, 'turn.mjs'), turnProgram);
}, 120_000);

afterAll(() => rm(bundleDir, { recursive: true, force: true }));

beforeEach(async () => {
  dir = await mkdtemp(join(bundleDir, 'case-'));
});

/** The optional peers: no turn here needs one. */
const OPTIONAL = [
  'ai',
  '@ai-sdk/openai',
  '@ai-sdk/anthropic',
  '@ai-sdk/google',
  '@ai-sdk/openai-compatible',
];

const TURN = '11111111-1111-4111-8111-111111111111';

/** One turn: the model asks for one call of a real MCP server, then answers. Dies at the step it is told. */
const turnProgram = `
import { appendFileSync, writeSync } from 'node:fs';
import { Agent, registerModelProvider, setFaultHook } from './out/agent.js';
const [stateDir, server, step, onInterrupted] = process.argv.slice(2);
const log = stateDir + '/log';
setFaultHook((taken) => { if (taken === step) process.kill(process.pid, 'SIGKILL'); });
async function* answer({ messages }) {
  appendFileSync(log, 'request ' + messages.map(({ role }) => role).join() + '\\n');
  const last = messages.at(-1);
  const content = last.role === 'user'
    ? [{ type: 'tool_call', callId: 'c', toolName: 'mcp__fixture__add', input: { a: 2, b: 3 } }]
    : [{ type: 'text', text: 'it gave ' + last.output }];
  yield { type: 'finished', content, stopReason: 'end_turn' };
}
registerModelProvider({
  kind: 'model', id: 'scripted', displayName: 'Scripted', package: 'none',
  openModel: async ({ model }) => ({ provider: 'scripted', model, step: answer }),
});
const agent = new Agent({
  provider: 'scripted', model: 'm', stateDir,
  toolPolicy: { permissions: 'full' },
  mcpServers: { fixture: { command: process.execPath, args: [server, log] } },
});
try {
  const turn = agent.askWithHistory([{ role: 'user', content: 'one' }], { turnId: '${TURN}', onInterrupted });
  writeSync(1, (await turn).answer);
} catch (error) {
  writeSync(1, String(error.kind ?? error.stack));
}
await agent.detach();
`;

async function runTurn(step: string, onInterrupted: 'fail' | 'resume'): Promise<string> {
  const server = pathOf('./__fixtures__/mcp-server.mjs');
  const program = [join(bundleDir, 'turn.mjs'), dir, server, step, onInterrupted];
  const child = spawn(process.execPath, program, { stdio: ['ignore', 'pipe', 'inherit'], env: {} });
  let output = '';
  child.stdout.on('data', (chunk) => {
    output += String(chunk);
  });
  const [, signal] = await once(child, 'close');
  return signal ?? output;
}

async function readLog(): Promise<string[]> {
  return (await readFile(join(dir, 'log'), 'utf8')).split('\n').filter((line) => line !== '');
}

/** Every server of this test, by what it said of itself at its start. */
async function serversLeft(): Promise<number[]> {
  const pids = (await readLog())
    .filter((line) => line.startsWith('started'))
    .map((line) => Number(line.split(' ')[1]));
  return pids.filter((pid) => {
    try {
      return process.kill(pid, 0);
    } catch {
      return false;
    }
  });
}

const done = 'it gave 5';
const unknown = /^it gave Interrupted: this tool call was made/;

describe('a service killed within a turn of an API agent', () => {
  it.each([
    ['api:session_opened', 1, done],
    ['api:turn_started', 1, done],
    ['api:step_started', 1, done],
    ['api:step_finished', 1, done],
    ['api:tool_call_started', 0, unknown],
    ['api:tool-called', 1, unknown],
    ['api:tool_call_finished', 1, done],
    ['api:turn_ended', 1, done],
  ] as const)(
    'at %s makes its call %i times in all, and leaves no server',
    async (step, calls, answer) => {
      expect(await runTurn(step, 'fail')).toBe('SIGKILL');
      await waitUntil(async () => (await serversLeft()).length === 0, {
        awaiting: 'the end of the servers of the killed service',
        deadlineMs: 20_000,
      });
      if (answer === unknown) expect(await runTurn('none', 'fail')).toBe('turn_interrupted');
      expect(await runTurn('none', 'resume')).toMatch(answer);
      expect(await serversLeft()).toEqual([]);
      const log = await readLog();
      expect(log.filter((line) => line === 'add 2 3')).toHaveLength(calls);
      const requests = log.filter((line) => line.startsWith('request'));
      expect(new Set(requests)).toEqual(new Set(['request user', 'request user,assistant,tool']));
    },
  );
});

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { waitUntil } from '@holdfast/agent';
import { build } from 'vite';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createFileStore } from '../persistence/file-store.js';
import type { Store } from '../persistence/store.js';
import { connectSession } from './__fixtures__/mcp-session.js';
import { createStoredExecutions } from './__fixtures__/stored-executions.js';
import { createSubAgentBridge, type SubAgentBridge } from './sub-agent-bridge.js';

/** Real processes that are really killed: they run the bundle of what is tested, since Node 20 runs no TypeScript. */
let bundleDir = '';
let dataDir = '';
let store: Store;
const running: ChildProcess[] = [];
const bridges: SubAgentBridge[] = [];

const pathOf = (relative: string) => fileURLToPath(new URL(relative, import.meta.url));

beforeAll(async () => {
  bundleDir = await mkdtemp(join(tmpdir(), 'holdfast-'));
  const entry = join(bundleDir, 'bridge.ts');
  const parts = [
    `export { createFileStore } from ${JSON.stringify(pathOf('../persistence/file-store.ts'))};`,
    `export { createSubAgentBridge } from ${JSON.stringify(pathOf('./sub-agent-bridge.ts'))};`,
    `export { createStoredExecutions } from ${JSON.stringify(pathOf('./__fixtures__/stored-executions.ts'))};`,
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
  await writeFile(join(bundleDir, 'serve.mjs'), serveProgram);
}, 120_000);

/** The optional peers: nothing here needs one. */
const OPTIONAL = [
  'ai',
  '@ai-sdk/openai',
  '@ai-sdk/anthropic',
  '@ai-sdk/google',
  '@ai-sdk/openai-compatible',
];

/** A builder that serves the tools, says where, and lives until it is killed. */
const serveProgram = `
import { writeSync } from 'node:fs';
import { createFileStore, createStoredExecutions, createSubAgentBridge } from './out/bridge.js';
const store = createFileStore({ dataDir: process.argv[2] });
const executions = createStoredExecutions(store);
const bridge = createSubAgentBridge({ store, executions: () => executions, agents: ['tester'] });
await bridge.start();
const token = bridge.tokenFor({ kind: 'chat', chatId: 'boss' });
writeSync(1, JSON.stringify({ url: bridge.url(), token }) + '\\n');
setInterval(() => {}, 1000);
`;

afterAll(() => rm(bundleDir, { recursive: true, force: true }));

beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'holdfast-'));
  store = createFileStore({ dataDir });
});

afterEach(async () => {
  for (const child of running.splice(0)) await kill(child);
  for (const bridge of bridges.splice(0)) await bridge.close();
  await store[Symbol.asyncDispose]();
  await rm(dataDir, { recursive: true, force: true });
});

interface Served {
  readonly child: ChildProcess;
  readonly url: string;
  readonly token: string;
}

async function serveInChild(): Promise<Served> {
  const program = [join(bundleDir, 'serve.mjs'), dataDir];
  const child = spawn(process.execPath, program, { stdio: ['ignore', 'pipe', 'inherit'], env: {} });
  running.push(child);
  let out = '';
  child.stdout?.on('data', (chunk) => {
    out += chunk;
  });
  await waitUntil(() => out.includes('\n') || child.exitCode !== null, {
    awaiting: 'the address of the child',
    deadlineMs: 50_000,
  });
  return { child, ...JSON.parse(out) };
}

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGKILL');
  await exited;
}

async function serveHere(): Promise<SubAgentBridge> {
  const executions = createStoredExecutions(store);
  const agents = ['tester'];
  const bridge = createSubAgentBridge({
    store,
    executions: () => executions,
    agents,
    pollMs: 20,
  });
  bridges.push(bridge);
  await bridge.start();
  return bridge;
}

const CALL = { agent: 'tester', prompt: 'Test' };

describe('after kill -9 of the process that served it', () => {
  it('an address is served again by the next builder, and the token is still good', async () => {
    const { child, url, token } = await serveInChild();
    await using session = await connectSession(url, { Authorization: `Bearer ${token}` });
    expect((await session.call('call_sub_agent', CALL)).value).toBeDefined();
    await kill(child);
    await expect(session.call('call_sub_agent', CALL)).rejects.toThrow();

    const bridge = await serveHere();
    expect(bridge.url()).toBe(url);
    expect((await session.call('call_sub_agent', CALL)).value).toBeDefined();
    expect((await session.call('list_sub_agents')).value?.['sub_agents']).toHaveLength(2);
  });

  it('an address is taken over by a peer that lives', async () => {
    const { child, url, token } = await serveInChild();
    const peer = await serveHere();
    expect(peer.url()).not.toBe(url);
    await using session = await connectSession(url, { Authorization: `Bearer ${token}` });
    expect((await session.call('call_sub_agent', CALL)).value).toBeDefined();
    await kill(child);

    await waitUntil(() => peer.served().includes(url), {
      awaiting: 'the address of the dead peer',
      deadlineMs: 30_000,
    });
    expect((await session.call('call_sub_agent', CALL)).value).toBeDefined();
    expect((await session.call('list_sub_agents')).value?.['sub_agents']).toHaveLength(2);
  });
});

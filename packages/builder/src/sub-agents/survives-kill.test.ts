import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { waitUntil } from '@holdfast/agent';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { buildProgram } from '../persistence/__fixtures__/build-program.js';
import { createFileStore } from '../persistence/file-store.js';
import type { Store } from '../persistence/store.js';
import { connectSession } from './__fixtures__/mcp-session.js';
import { createStoredExecutions } from './__fixtures__/stored-executions.js';
import { createSubAgentBridge, type SubAgentBridge } from './sub-agent-bridge.js';

/** Real processes that are really killed: they run the bundle of what is tested, since Node 20 runs no TypeScript. */
let bundleDir = '';
let serveFile = '';
let dataDir = '';
let store: Store;
const running: ChildProcess[] = [];
const bridges: SubAgentBridge[] = [];

beforeAll(async () => {
  bundleDir = await mkdtemp(join(tmpdir(), 'holdfast-'));
  serveFile = await buildProgram(bundleDir, 'serve', serveProgram);
}, 120_000);

/** A builder that serves the tools, says where, and lives until it is killed. */
const serveProgram = `
import { writeSync } from 'node:fs';
import { createFileStore } from '#src/persistence/file-store.ts';
import { createStoredExecutions } from '#src/sub-agents/__fixtures__/stored-executions.ts';
import { createSubAgentBridge } from '#src/sub-agents/sub-agent-bridge.ts';
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
  const program = [serveFile, dataDir];
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

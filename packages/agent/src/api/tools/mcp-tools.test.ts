import { mkdtemp, readFile, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { waitUntil } from '@holdfast/provider-core';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ApiAgentOptions } from '../../agent-options.js';
import { createApiFixture } from '../__fixtures__/api-fixture.js';
import { createHttpMcpServer } from '../__fixtures__/http-mcp-server.js';
import {
  call,
  lastLine,
  ScriptedPort,
  type ScriptedStep,
  say,
} from '../__fixtures__/scripted-port.js';

const SERVER = fileURLToPath(new URL('../__fixtures__/mcp-server.mjs', import.meta.url));
const FULL = { permissions: 'full' } as const;

let dir = '';
beforeEach(async () => {
  dir = await realpath(await mkdtemp(join(tmpdir(), 'holdfast-mcp-')));
});
afterEach(() => rm(dir, { recursive: true, force: true }));

const stdioServer = () => ({ command: process.execPath, args: [SERVER, join(dir, 'log')] });

/** What the server really did, one line each. */
async function readLog(): Promise<string[]> {
  const text = await readFile(join(dir, 'log'), 'utf8').catch(() => '');
  return text.split('\n').filter((line) => line !== '');
}

const pidsOf = (log: readonly string[]) =>
  log.filter((line) => line.startsWith('started')).map((line) => Number(line.split(' ')[1]));

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** Calls what the message names, then answers with what it gave. */
const obey: ScriptedStep = (request) => {
  const line = lastLine(request);
  if (line.startsWith('tool')) return say(line);
  const [name = '', input = '{}'] = line.slice('user: '.length).split(' ');
  return call(name, JSON.parse(input));
};

const setUp = (options: Partial<ApiAgentOptions>) =>
  createApiFixture(new ScriptedPort(obey), undefined, { toolPolicy: FULL, ...options });

const ask = (content: string) => [{ role: 'user', content }] as const;

describe('tools of a stdio server', () => {
  it('are offered under names vendors take, called, and kept by one process between turns', async () => {
    const port = new ScriptedPort(obey);
    const mcpServers = { fixture: stdioServer() };
    await using fixture = await createApiFixture(port, undefined, { toolPolicy: FULL, mcpServers });
    const agent = fixture.createAgent();
    const first = await agent.askWithHistory(ask('mcp__fixture__add {"a":2,"b":3}'));
    expect(first.answer).toBe('tool: 5');
    expect(port.requests[0]?.tools.map(({ name }) => name)).toContain('mcp__fixture__look');
    expect(port.requests[0]?.tools[0]).toMatchObject({
      name: 'mcp__fixture__add',
      inputSchema: { type: 'object', required: ['a', 'b'] },
    });
    await agent.continueAgentSession(first.handle, 'mcp__fixture__look');
    const log = await readLog();
    expect(log.slice(1)).toEqual(['add 2 3', 'look']);
    expect(pidsOf(log)).toHaveLength(1);
  });

  it('make an error of theirs, a bad input and a part that is no text things the model reads', async () => {
    await using fixture = await setUp({ mcpServers: { fixture: stdioServer() } });
    const agent = fixture.createAgent();
    const { answer, handle } = await agent.askWithHistory(ask('mcp__fixture__fail'));
    expect(answer).toBe('tool!: out of paper');
    const bad = await agent.continueAgentSession(handle, 'mcp__fixture__add {"a":"x"}');
    expect(bad.answer).toMatch(/^tool!: .*[Ii]nvalid/s);
    const picture = await agent.continueAgentSession(handle, 'mcp__fixture__picture');
    expect(picture.answer).toBe('tool: here\n[image image/png: not shown]');
  });

  it('see a short list of our environment, what they were given, and the working directory', async () => {
    process.env['HOLDFAST_TEST_SECRET'] = 'x';
    const server = { ...stdioServer(), env: { GIVEN: '1' } };
    await using fixture = await setUp({ mcpServers: { fixture: server }, workingDir: dir });
    const { answer } = await fixture.createAgent().askWithHistory(ask('mcp__fixture__environment'));
    delete process.env['HOLDFAST_TEST_SECRET'];
    const { names, cwd } = JSON.parse(answer.slice('tool: '.length));
    expect(cwd).toBe(dir);
    const allowed = ['GIVEN', 'HOME', 'LOGNAME', 'PATH', 'SHELL', 'TERM', 'USER'];
    expect(names.filter((name: string) => !allowed.includes(name))).toEqual([]);
    expect(names).toContain('GIVEN');
  });

  it.each(['detach', 'close'] as const)('leave no process behind after %s', async (verb) => {
    await using fixture = await setUp({ mcpServers: { a: stdioServer(), b: stdioServer() } });
    const agent = fixture.createAgent();
    await agent.askWithHistory(ask('mcp__a__look'));
    const pids = pidsOf(await readLog());
    expect(pids.map(isAlive)).toEqual([true, true]);
    const result = await agent[verb]();
    expect(pids.map(isAlive)).toEqual([false, false]);
    if (verb === 'close') expect(result).toMatchObject({ endedProcesses: 2 });
  });

  it('come back when their server died', async () => {
    await using fixture = await setUp({ mcpServers: { fixture: stdioServer() } });
    const agent = fixture.createAgent();
    const { answer, handle } = await agent.askWithHistory(ask('mcp__fixture__die'));
    expect(answer).toMatch(
      /^tool!: The tool call failed: .*Connection closed.*may have taken effect/,
    );
    const next = await agent.continueAgentSession(handle, 'mcp__fixture__look');
    expect(next.answer).toBe('tool: seen');
    expect(pidsOf(await readLog())).toHaveLength(2);
  });

  it('are cancelled with the turn', async () => {
    await using fixture = await setUp({ mcpServers: { fixture: stdioServer() } });
    const turn = fixture.createAgent().askWithHistory(ask('mcp__fixture__hang'));
    const logged = (what: string) =>
      waitUntil(async () => (await readLog()).includes(what), {
        awaiting: what,
        deadlineMs: 20_000,
      });
    await logged('hang');
    await turn.interrupt();
    await expect(turn).rejects.toMatchObject({ kind: 'turn_interrupted', isFinal: true });
    await logged('cancelled');
  });

  it('that cannot be had are a typed error before anything is sent, and nothing is left over', async () => {
    const port = new ScriptedPort(obey);
    const mcpServers = { fixture: stdioServer(), gone: { command: join(dir, 'no-such-program') } };
    await using fixture = await createApiFixture(port, undefined, { toolPolicy: FULL, mcpServers });
    const agent = fixture.createAgent();
    await expect(agent.askWithHistory(ask('mcp__fixture__look'))).rejects.toMatchObject({
      kind: 'cli_unusable',
      reason: 'missing',
      subject: 'The MCP server gone',
    });
    expect(port.requests).toEqual([]);
    expect(agent.currentAgentSessionHandle()).toBeUndefined();
    const pids = pidsOf(await readLog());
    await agent.detach();
    expect(pids.map(isAlive)).toEqual([false]);
  });

  it('of the longest names have short ones that stay the same and never meet', async () => {
    const name = 'a server with a name that is much too long for what any vendor takes, é';
    const port = new ScriptedPort(() => say('fine'));
    const mcpServers = { [name]: stdioServer(), [`${name}!`]: stdioServer() };
    await using fixture = await createApiFixture(port, undefined, { mcpServers });
    await fixture.createAgent().askWithHistory(ask('hello'));
    const names = port.requests[0]?.tools.map((tool) => tool.name) ?? [];
    expect(names.every((one) => /^[a-zA-Z0-9_-]{1,64}$/.test(one))).toBe(true);
    expect(new Set(names).size).toBe(names.length);
    expect(names).toHaveLength(14);
  });
});

describe('tools of an HTTP server', () => {
  it('are called with the given headers, and found again when the server forgot the session', async () => {
    await using server = await createHttpMcpServer();
    const mcpServers = { web: { url: server.url, headers: { 'x-token': 't' } } };
    await using fixture = await setUp({ mcpServers });
    const agent = fixture.createAgent();
    const { answer, handle } = await agent.askWithHistory(ask('mcp__web__ping'));
    expect(answer).toBe('tool: pong');
    expect(server.headers.every((one) => one['x-token'] === 't')).toBe(true);
    await agent.continueAgentSession(handle, 'mcp__web__ping');
    expect(server.sessions()).toBe(1);
    server.forget();
    const again = await agent.continueAgentSession(handle, 'mcp__web__ping');
    expect(again.answer).toBe('tool: pong');
    expect(server.calls).toEqual(['ping', 'ping', 'ping']);
    await agent.detach();
    expect(server.sessions()).toBe(0);
  });
});

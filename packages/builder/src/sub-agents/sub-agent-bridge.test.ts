import { createServer, request as httpRequest } from 'node:http';
import { type AgentOptions, waitUntil } from '@holdfast/agent';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { AgentContext } from '../agents.js';
import { keys } from '../persistence/keys.js';
import {
  BOSS,
  type BridgeWorld,
  createBridgeWorld,
  headersOf,
} from './__fixtures__/bridge-world.js';
import { connectSession } from './__fixtures__/mcp-session.js';
import type { SubAgentBridge } from './sub-agent-bridge.js';

let world: BridgeWorld;
const open: BridgeWorld['open'] = (options) => world.open(options);
const connect: BridgeWorld['connect'] = (bridge, owner) => world.connect(bridge, owner);

beforeEach(async () => {
  world = await createBridgeWorld();
});

afterEach(() => world[Symbol.asyncDispose]());

async function statusOf(url: string, headers: Record<string, string>, method = 'POST') {
  return new Promise<number | undefined>((resolve, reject) => {
    const request = httpRequest(url, { method, headers }, (response) => {
      response.resume();
      resolve(response.statusCode);
    });
    request.once('error', reject);
    request.end(method === 'POST' ? '{"jsonrpc":"2.0","id":1,"method":"tools/list"}' : '');
  });
}

describe('the door', () => {
  it('lets in nobody without the token of a session', async () => {
    const bridge = await open();
    const url = bridge.url() ?? '';
    const token = bridge.tokenFor(BOSS);
    const forged = token.replace('draft', 'final');
    const flipped = token.replace(/.$/, (last) => (last === '0' ? '1' : '0'));
    const wrong = [undefined, '', token, 'Bearer x', `Bearer ${forged}`, `Bearer ${flipped}`];
    for (const authorization of wrong) {
      expect(await statusOf(url, authorization === undefined ? {} : { authorization })).toBe(401);
    }
    const connecting = connectSession(url, { Authorization: `Bearer ${forged}` });
    await expect(connecting).rejects.toThrow();
  });

  it('refuses a foreign Host or Origin, also with a token', async () => {
    const bridge = await open();
    const url = bridge.url() ?? '';
    const authorization = `Bearer ${bridge.tokenFor(BOSS)}`;
    const port = new URL(url).port;
    const rest = {
      authorization,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    };
    expect(await statusOf(url, { ...rest, host: 'evil.example' })).toBe(403);
    expect(await statusOf(url, { ...rest, host: `127.0.0.1:${Number(port) + 1}` })).toBe(403);
    expect(await statusOf(url, { ...rest, origin: 'https://evil.example' })).toBe(403);
    expect(await statusOf(url, { ...rest, origin: 'null' })).toBe(403);
    expect(await statusOf(url, { ...rest, host: `localhost:${port}` })).toBe(200);
    expect(await statusOf(url, { ...rest, origin: `http://127.0.0.1:${port}` })).toBe(200);
  });

  it('serves one path and one method, and no body without end', async () => {
    const bridge = await open();
    const url = bridge.url() ?? '';
    const headers = headersOf(bridge, BOSS);
    expect(await statusOf(url, headers, 'GET')).toBe(405);
    expect(await statusOf(url, headers, 'DELETE')).toBe(405);
    expect(await statusOf(new URL('/other', url).href, headers)).toBe(404);
    const post = (body: string) => fetch(url, { method: 'POST', headers, body });
    expect((await post('no json')).status).toBe(400);
    expect((await post('x'.repeat(5_000_000)).catch(() => ({ status: 413 }))).status).toBe(413);
    expect(await (await connect(bridge)).tools()).toHaveLength(4);
  });
});

describe('equip', () => {
  const context: AgentContext = {
    agent: 'writer',
    scope: 'workflow_step',
    sessionId: '1~main~draft.learning_agent',
    correlationId: 'c',
    executionId: '1~main~draft',
  };
  const options = { provider: 'some-cli', workingDir: '/' } as unknown as AgentOptions;

  it('gives an agent an address and a token that work', async () => {
    const bridge = await open();
    const equipped = bridge.equip(options, context).mcpServers?.['holdfast'];
    const { url, headers } = equipped as { url: string; headers: Record<string, string> };
    expect(equipped?.stableAs).toBe('holdfast-builder');
    await using session = await connectSession(url, headers);
    await session.call('call_sub_agent', { agent: 'tester', prompt: 'Test' });
    expect(world.executions.started).toMatchObject([{ owner: BOSS }]);
  });

  it('refuses a server of the same name', async () => {
    const bridge = await open();
    const mcpServers = { holdfast: { command: 'mine' } };
    const mine = { ...options, mcpServers } as unknown as AgentOptions;
    expect(() => bridge.equip(mine, context)).toThrow(TypeError);
  });

  it('leaves agents as they are where none may be called', async () => {
    const bridge = await open({ agents: [] });
    expect(bridge.equip(options, context)).toBe(options);
    expect(bridge.url()).toBeUndefined();
  });
});

describe('address and token', () => {
  const call = { agent: 'tester', prompt: 'Test' };

  it('are the same after a restart, for a client that knows nothing of it', async () => {
    const first = await open();
    const session = await connect(first);
    await session.call('call_sub_agent', call);
    const [url, token] = [first.url(), first.tokenFor(BOSS)];
    await first.close();
    await expect(session.call('call_sub_agent', call)).rejects.toThrow();

    const second = await open();
    expect([second.url(), second.tokenFor(BOSS)]).toEqual([url, token]);
    expect((await session.call('call_sub_agent', call)).value).toBeDefined();
    expect(world.executions.started).toHaveLength(2);
  });

  it('are taken over by a living peer when a builder closes', async () => {
    const first = await open();
    const second = await open({ pollMs: 10 });
    expect(second.url()).not.toBe(first.url());
    const session = await connect(first);
    const url = first.url();
    await first.close();
    await waitUntil(() => second.served().length === 2, { awaiting: 'a', deadlineMs: 20_000 });
    expect(second.served()).toContain(url);
    expect((await session.call('call_sub_agent', call)).value).toBeDefined();
    // One that starts now leaves both to the living peer.
    const third = await open();
    expect(second.served()).not.toContain(third.url());
  });

  it('change only when a stranger has the port, and that is logged', async () => {
    const first = await open();
    const [url, token] = [first.url() ?? '', first.tokenFor(BOSS)];
    await first.close();
    const stranger = createServer((_request, response) => response.end('mine'));
    const port = Number(new URL(url).port);
    await new Promise<void>((resolve) => stranger.listen(port, '127.0.0.1', resolve));
    const logged: unknown[] = [];
    const logger = { error: (...line: unknown[]) => logged.push(line) } as never;
    const second = await open({ logger });
    expect(second.url()).not.toBe(url);
    expect(second.tokenFor(BOSS)).toBe(token);
    const newPort = Number(new URL(second.url() ?? '').port);
    expect(logged).toEqual([
      [{ slot: '0', port, new_port: newPort }, 'address taken by a stranger'],
    ]);
    await second.close();
    await new Promise((resolve) => stranger.close(resolve));
    expect((await open()).url()).toBe(`http://127.0.0.1:${newPort}/mcp`);
  });

  it('of more builders than there are slots are those of a peer', async () => {
    const bridges: SubAgentBridge[] = [];
    for (let count = 0; count < 17; count += 1) bridges.push(await open());
    expect(new Set(bridges.map((one) => one.url())).size).toBe(16);
    expect(bridges[16]?.url()).toBe(bridges[0]?.url());
    expect(bridges[16]?.served()).toEqual([]);
  });

  it('are made anew when the secret is damaged', async () => {
    const first = await open();
    const token = first.tokenFor(BOSS);
    await first.close();
    await world.store.write(keys.bridge('secret.json'), { schema_version: 1, secret: 'short' });
    const second = await open();
    expect(second.tokenFor(BOSS)).not.toBe(token);
    expect(await statusOf(second.url() ?? '', { authorization: `Bearer ${token}` })).toBe(401);
  });
});

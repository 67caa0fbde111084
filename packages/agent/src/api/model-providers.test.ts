import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brokenStream, scripted, startScriptedModel } from '@holdfast/provider-core/certification';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Agent } from '../agent.js';
import type { ApiAgentOptions } from '../agent-options.js';

const SERVER = fileURLToPath(new URL('./__fixtures__/mcp-server.mjs', import.meta.url));
const TURN = '11111111-1111-4111-8111-111111111111';
const PNG = {
  type: 'image',
  mediaType: 'image/png',
  data: 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
} as const;

let stateDir = '';
beforeEach(async () => {
  stateDir = await mkdtemp(join(tmpdir(), 'holdfast-models-'));
});
afterEach(() => rm(stateDir, { recursive: true, force: true }));

const providers = [
  ['anthropic', '/v1'],
  ['openai', '/v1'],
  ['openai-compatible', '/v1'],
  ['google', '/v1beta'],
] as const;

describe.each(providers)('an agent on %s', (provider, path) => {
  const createAgent = (baseUrl: string, options: Partial<ApiAgentOptions> = {}) =>
    new Agent({
      provider,
      model: 'scripted-model',
      apiKey: 'key',
      baseUrl: `${baseUrl}${path}`,
      stateDir,
      systemPrompt: 'Be brief.',
      toolPolicy: { permissions: 'full' },
      mcpServers: { fixture: { command: process.execPath, args: [SERVER, join(stateDir, 'log')] } },
      ...options,
    });

  it('calls a tool, answers, and recalls what was said in another process', async () => {
    await using model = await startScriptedModel();
    await using agent = createAgent(model.baseUrl);
    const step = {
      tools: [{ name: 'mcp__fixture__add', input: { a: 2, b: 3 } }],
      after: [{ text: 'Added.' }],
    };
    const first = scripted('Remember the codeword heron.', step);
    const { answer, handle, usage } = await agent.askWithHistory([
      { role: 'user', content: [{ type: 'text', text: first }, PNG] },
    ]);
    expect(answer).toBe('Added.');
    expect(usage?.inputTokens).toBeGreaterThan(0);
    expect(await readFile(join(stateDir, 'log'), 'utf8')).toContain('add 2 3\n');

    await using later = createAgent(model.baseUrl);
    const next = await later.continueAgentSession(handle, 'What is the codeword?');
    expect(next.answer).toContain('heron');
    const said = model.requests().at(-1)?.messages ?? [];
    const users = said.filter(({ role, texts }) => role === 'user' && texts.length > 0);
    expect(users.map(({ texts }) => texts.join(''))).toEqual([first, 'What is the codeword?']);
    expect(users[0]?.images).toHaveLength(1);
    expect(said.filter(({ role }) => role === 'tool').map(({ texts }) => texts.join(''))).toEqual([
      expect.stringContaining('5'),
    ]);
    expect(model.requests().at(-1)?.systemText).toContain('Be brief.');
  });

  it('goes on after a stream that broke, without a second message', async () => {
    await using model = await startScriptedModel();
    await using agent = createAgent(model.baseUrl, { mcpServers: {} });
    const message = scripted('Go.', brokenStream('Went.', { times: 1 }));
    const turn = agent.askWithHistory([{ role: 'user', content: message }], { turnId: TURN });
    await expect(turn).rejects.toMatchObject({ kind: 'provider_failed', reason: 'broken_stream' });
    const again = await agent.continueAgentSession(await turn.handle, message, { turnId: TURN });
    expect(again).toMatchObject({ answer: 'Went.', recovered: true });
    const said = model.requests().at(-1)?.messages ?? [];
    expect(said.map(({ role }) => role).filter((role) => role !== 'system')).toEqual(['user']);
  });
});

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findProvider, listProviders, registerProvider } from '@holdfast/provider-core';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { MemorySessions } from './__fixtures__/memory-sessions.js';
import { Agent } from './agent.js';
import type { AgentOptions } from './agent-options.js';
import type { ProviderSessions } from './provider-sessions.js';

/** A CLI that is better driven by its protocol where nobody watches. */
const SYNTHETIC = 'unattended-cli';

beforeAll(() => {
  const [known = ''] = listProviders();
  const definition = findProvider(known);
  if (!definition) throw new Error('unreachable: it was listed');
  registerProvider({ ...definition, id: SYNTHETIC, unattended: 'structured' });
});

let stateDir = '';
beforeEach(async () => {
  stateDir = await mkdtemp(join(tmpdir(), 'holdfast-unattended-'));
});
afterEach(() => rm(stateDir, { recursive: true, force: true }));

/** The transports that two turns of an agent with these options ask for: of its start, and of a continuation. */
async function transportsOf(options: Record<string, unknown>) {
  const memory = new MemorySessions();
  const asked: (string | undefined)[] = [];
  const sessions: ProviderSessions = {
    ...memory,
    start: (request) => {
      asked.push(request.transport);
      return memory.start(request);
    },
    continue: (handle, message, turn) => {
      asked.push(turn.transport);
      return memory.continue(handle, message, turn);
    },
  };
  const all = { provider: SYNTHETIC, workingDir: '/project', stateDir, sessions, ...options };
  const agent = new Agent(all as unknown as AgentOptions);
  const { handle } = await agent.askWithHistory([{ role: 'user', content: 'one' }]);
  await agent.continueAgentSession(handle, 'two');
  return asked;
}

describe('work that nobody watches', () => {
  it('goes in the way that its provider declares for it', async () => {
    for (const scope of ['workflow', 'workflow_step', 'sub_agent', 'background_agent']) {
      expect(await transportsOf({ scope }), scope).toEqual(['structured', 'structured']);
    }
  });

  it('goes as any other in a chat, and where its caller named a transport', async () => {
    expect(await transportsOf({})).toEqual([undefined, undefined]);
    expect(await transportsOf({ scope: 'chat' })).toEqual([undefined, undefined]);
    expect(await transportsOf({ scope: 'sub_agent', transport: 'tmux' })).toEqual(['tmux', 'tmux']);
  });

  it('goes as any other where its provider declares nothing', async () => {
    const [known] = listProviders();
    expect(await transportsOf({ scope: 'workflow_step', provider: known })).toEqual([
      undefined,
      undefined,
    ]);
  });
});

describe('captureTerminal', () => {
  it('asks for the terminal of its session alone, and tells nothing where there is none', async () => {
    const memory = new MemorySessions();
    const seen: unknown[] = [];
    const sessions: ProviderSessions = {
      ...memory,
      captureTerminal: async (handle, options) => {
        seen.push([handle.nativeSessionId, options.stateDir]);
        return { terminalId: 't', text: 'screen' };
      },
    };
    const options = { provider: SYNTHETIC, workingDir: '/project', stateDir, sessions };
    const agent = new Agent(options as unknown as AgentOptions);
    expect(await agent.captureTerminal()).toBeUndefined();
    const { handle } = await agent.askWithHistory([{ role: 'user', content: 'one' }]);
    expect(await agent.captureTerminal()).toEqual({ terminalId: 't', text: 'screen' });
    expect(seen).toEqual([[handle.provider.nativeSessionId, stateDir]]);

    const without = new Agent({ ...options, sessions: memory } as unknown as AgentOptions);
    without.applyAgentSessionHandle(handle);
    expect(await without.captureTerminal()).toBeUndefined();
  });
});

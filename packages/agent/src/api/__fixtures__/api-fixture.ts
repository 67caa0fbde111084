import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { registerModelProvider } from '@holdfast/provider-core';
import { Agent } from '../../agent.js';
import type { ApiAgentOptions } from '../../agent-options.js';
import type { AgentTurn, AgentTurnEvent } from '../../turn/agent-turn.js';
import { ApiSessions } from '../api-sessions.js';
import type { ToolBox } from '../tools/tool-box.js';
import type { ScriptedPort } from './scripted-port.js';

export interface ApiFixture extends AsyncDisposable {
  readonly stateDir: string;
  readonly provider: string;
  /** Another process, as far as the session is concerned: nothing is shared but the disk and the world outside. */
  readonly createAgent: (options?: Partial<ApiAgentOptions>) => Agent;
}

/** An id can be registered once: each fixture's model is told from the others by its key. */
const provider = 'scripted';
const ports = new Map<unknown, ScriptedPort>();
registerModelProvider({
  kind: 'model',
  id: provider,
  displayName: 'Scripted',
  package: 'none',
  openModel: async (config) => {
    const port = ports.get(config.apiKey);
    if (!port) throw new TypeError('no such key');
    return port.open(config);
  },
});

/** Agents on a model that is scripted, in a state directory of their own. */
export async function createApiFixture(
  port: ScriptedPort,
  toolBox?: ToolBox,
  defaults: Partial<ApiAgentOptions> = {},
): Promise<ApiFixture> {
  const stateDir = await mkdtemp(join(tmpdir(), 'holdfast-api-'));
  const apiKey = randomUUID();
  ports.set(apiKey, port);
  const agents: Agent[] = [];
  return {
    stateDir,
    provider,
    createAgent: (options = {}) => {
      const settings = { provider, apiKey, model: 'm-1', stateDir, ...defaults, ...options };
      const { sessionId } = settings;
      const place = { provider, config: settings, sessionId, stateDir: settings.stateDir ?? '' };
      const sessions = toolBox && new ApiSessions({ ...place, openModel: port.open, toolBox });
      const agent = new Agent({ ...settings, sessions } as ApiAgentOptions);
      agents.push(agent);
      return agent;
    },
    [Symbol.asyncDispose]: async () => {
      for (const agent of agents) await agent.detach();
      await rm(stateDir, { recursive: true, force: true });
    },
  };
}

export async function collect(turn: AgentTurn): Promise<{ events: AgentTurnEvent[]; error?: unknown }> {
  const events: AgentTurnEvent[] = [];
  try {
    for await (const event of turn) events.push(event);
  } catch (error) {
    return { events, error };
  }
  return { events };
}

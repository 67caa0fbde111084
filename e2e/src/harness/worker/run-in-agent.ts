import { Agent, decodeAgentSessionHandle, encodeAgentSessionHandle } from '@holdfast/agent';
import type { HandleJson } from '@holdfast/provider-core/certification';
import { reportLine, reportTurn, type WorkerCommand } from './worker-command.js';

/** Makes the call through an `Agent` that knows the session only by its handle. */
export async function runInAgent(
  { action, stateDir }: WorkerCommand,
  interrupted: AbortSignal,
): Promise<void> {
  switch (action.type) {
    case 'start': {
      await using agent = createAgent(action.provider, action.config, stateDir);
      const message = { role: 'user' as const, content: action.message };
      const turn = agent.askWithHistory([message], action.options);
      return await reportTurn(turn, encodeAgentSessionHandle, interrupted);
    }
    case 'continue': {
      const config = { ...action.agentConfig, ...action.config };
      await using agent = createAgent(action.provider, config, stateDir);
      const handle = decodeAgentSessionHandle(action.handle);
      const turn = agent.continueAgentSession(handle, action.message, action.options);
      return await reportTurn(turn, encodeAgentSessionHandle, interrupted);
    }
    case 'inspect':
      throw new Error('The agent layer inspects through provider-core.');
    case 'close': {
      await using agent = createAgent(action.provider, action.agentConfig, stateDir);
      agent.applyAgentSessionHandle(decodeAgentSessionHandle(action.handle));
      return reportLine({ type: 'result', result: await agent.close() });
    }
  }
}

function createAgent(provider: string, config: HandleJson, stateDir: string): Agent {
  const options = { provider, transport: 'tmux', ...config, stateDir };
  return new Agent(options as unknown as ConstructorParameters<typeof Agent>[0]);
}

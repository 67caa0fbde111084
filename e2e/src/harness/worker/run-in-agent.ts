import { Agent, decodeAgentSessionHandle, encodeAgentSessionHandle } from '@holdfast/agent';
import type { HandleJson } from '@holdfast/provider-core/certification';
import { hostOf, messageOf } from './host-of-worker.js';
import { runWithHistory } from './run-with-history.js';
import { type OrderTarget, reportLine, reportTurn, type WorkerCommand } from './worker-command.js';

/** Makes the call through an `Agent` that knows the session only by its handle. */
export async function runInAgent(command: WorkerCommand, target: OrderTarget): Promise<void> {
  const { action, stateDir } = command;
  const host = hostOf(command);
  switch (action.type) {
    case 'start': {
      await using agent = createAgent(action.provider, action.config, stateDir);
      const message = { role: 'user' as const, content: messageOf(command, action.message) };
      const turn = agent.askWithHistory([message], { ...host, ...action.options });
      return await reportTurn(turn, encodeAgentSessionHandle, target);
    }
    case 'continue': {
      const config = { ...action.agentConfig, ...action.config };
      await using agent = createAgent(action.provider, config, stateDir);
      const handle = decodeAgentSessionHandle(action.handle);
      const message = messageOf(command, action.message);
      const turn = agent.continueAgentSession(handle, message, { ...host, ...action.options });
      return await reportTurn(turn, encodeAgentSessionHandle, target);
    }
    case 'inspect':
      throw new Error('The agent layer inspects through provider-core.');
    case 'close': {
      await using agent = createAgent(action.provider, action.agentConfig, stateDir);
      agent.applyAgentSessionHandle(decodeAgentSessionHandle(action.handle));
      return reportLine({ type: 'result', result: await agent.close({ archive: action.archive }) });
    }
    default:
      return runWithHistory(command, action, target);
  }
}

function createAgent(provider: string, config: HandleJson, stateDir: string): Agent {
  const options = { provider, ...config, stateDir };
  return new Agent(options as unknown as ConstructorParameters<typeof Agent>[0]);
}

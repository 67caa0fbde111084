import {
  Agent,
  type AgentSessionHandle,
  decodeAgentSessionHandle,
  encodeAgentSessionHandle,
} from '@holdfast/agent';
import type { HandleJson } from '@holdfast/provider-core/certification';
import { hostOf } from './host-of-worker.js';
import {
  type HistoryAction,
  type OrderTarget,
  reportLine,
  reportTurn,
  type WorkerCommand,
} from './worker-command.js';

/** The calls that only an agent has: a whole conversation, no handle at all, and the durable queue. */
export async function runWithHistory(
  command: WorkerCommand,
  action: HistoryAction,
  target: OrderTarget,
): Promise<void> {
  const { provider, agentConfig } = action;
  await using agent = createAgent({ provider, ...agentConfig, stateDir: command.stateDir });
  const host = hostOf(command);
  switch (action.type) {
    case 'converse': {
      const options = { ...host, ...action.options };
      const { messages } = action;
      const turn = action.handle
        ? agent.continueAgentSessionWithHistory(
            decodeAgentSessionHandle(action.handle),
            messages,
            options,
          )
        : agent.askWithHistory(messages, options);
      return await reportTurn(turn, encodeAgentSessionHandle, target);
    }
    case 'continue_without_handle': {
      const none = null as unknown as AgentSessionHandle;
      const turn = agent.continueAgentSession(none, action.message, host);
      return await reportTurn(turn, encodeAgentSessionHandle, target);
    }
    case 'queue': {
      agent.applyAgentSessionHandle(decodeAgentSessionHandle(action.handle));
      for (const message of action.messages) await agent.enqueue(message);
      reportLine({ type: 'handle', handle: action.handle });
      await agent.drain();
      const { queued } = await agent.inspect();
      return reportLine({ type: 'result', result: { queued } });
    }
  }
}

function createAgent(options: HandleJson): Agent {
  return new Agent(options as unknown as ConstructorParameters<typeof Agent>[0]);
}

import {
  closeCodingAgentSession,
  continueCodingAgentSession,
  inspectCodingAgentSession,
  startCodingAgentSession,
} from '@holdfast/provider-core';
import { encodeCodingProviderSessionHandle } from '@holdfast/provider-core/wire';
import { hostOf, messageOf } from './host-of-worker.js';
import { type OrderTarget, reportLine, reportTurn, type WorkerCommand } from './worker-command.js';

/** Makes the call through provider-core's public functions alone. */
export async function runInProviderCore(
  command: WorkerCommand,
  target: OrderTarget,
): Promise<void> {
  const { action, stateDir } = command;
  const host = hostOf(command);
  switch (action.type) {
    case 'start': {
      const { provider, config, options } = action;
      const message = messageOf(command, action.message);
      // The command is JSON that the harness wrote; the union over providers is checked by the library.
      const request = { provider, config, message, stateDir, ...host, ...options };
      const turn = startCodingAgentSession(
        request as unknown as Parameters<typeof startCodingAgentSession>[0],
      );
      return reportTurn(turn, encodeCodingProviderSessionHandle, target);
    }
    case 'continue': {
      const { handle, config, options } = action;
      const message = messageOf(command, action.message);
      const turn = continueCodingAgentSession(JSON.stringify(handle), message, {
        stateDir,
        ...host,
        ...options,
        ...(config && { config }),
      } as unknown as Parameters<typeof continueCodingAgentSession>[2]);
      return reportTurn(turn, encodeCodingProviderSessionHandle, target);
    }
    case 'inspect': {
      const result = await inspectCodingAgentSession(JSON.stringify(action.handle), { stateDir });
      return reportLine({ type: 'result', result });
    }
    case 'close': {
      const { handle, archive } = action;
      const result = await closeCodingAgentSession(JSON.stringify(handle), { stateDir, archive });
      return reportLine({ type: 'result', result });
    }
    default:
      throw new Error(`Only an agent can ${action.type}.`);
  }
}

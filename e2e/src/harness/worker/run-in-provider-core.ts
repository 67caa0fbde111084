import {
  closeCodingAgentSession,
  continueCodingAgentSession,
  inspectCodingAgentSession,
  startCodingAgentSession,
} from '@holdfast/provider-core';
import { encodeCodingProviderSessionHandle } from '@holdfast/provider-core/wire';
import { reportLine, reportTurn, type WorkerCommand } from './worker-command.js';

/** Makes the call through provider-core's public functions alone. */
export async function runInProviderCore(
  { action, stateDir }: WorkerCommand,
  interrupted: AbortSignal,
): Promise<void> {
  switch (action.type) {
    case 'start': {
      const { provider, config, message, options } = action;
      // The command is JSON that the harness wrote; the union over providers is checked by the library.
      const request = { provider, transport: 'tmux', config, message, stateDir, ...options };
      const turn = startCodingAgentSession(
        request as unknown as Parameters<typeof startCodingAgentSession>[0],
      );
      return reportTurn(turn, encodeCodingProviderSessionHandle, interrupted);
    }
    case 'continue': {
      const { handle, config, message, options } = action;
      const turn = continueCodingAgentSession(JSON.stringify(handle), message, {
        stateDir,
        ...options,
        ...(config && { config }),
      } as unknown as Parameters<typeof continueCodingAgentSession>[2]);
      return reportTurn(turn, encodeCodingProviderSessionHandle, interrupted);
    }
    case 'inspect': {
      const result = await inspectCodingAgentSession(JSON.stringify(action.handle), { stateDir });
      return reportLine({ type: 'result', result });
    }
    case 'close': {
      const result = await closeCodingAgentSession(JSON.stringify(action.handle), { stateDir });
      return reportLine({ type: 'result', result });
    }
  }
}

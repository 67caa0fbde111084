import type { ProviderCapabilities } from '../../spec/capabilities.js';
import type { ServedRecord } from '../../spec/served-pane.js';
import type { TurnProcess } from '../../spec/turn-process.js';
import { encodeMessage, findExecRefusal } from './exec-delivery.js';
import { codexCreation, planTurnLaunch } from './exec-launch.js';
import { isNotice, readGivenUp, readOpened, readSettings } from './exec-output.js';
import { codexProtocol } from './protocol.js';

/** Codex without a server: `codex exec`, a process for each turn, on the same threads and rollouts. */
export function execProcess(record: ServedRecord): TurnProcess {
  return {
    kind: 'turn_process',
    creation: {
      ...codexCreation,
      initialize: codexProtocol.initialize,
      initialized: codexProtocol.initialized,
      readNativeSessionId: (result) => codexProtocol.readOpenedSession(result)?.nativeSessionId,
      archive: codexProtocol.archive,
    },
    turnLaunch: planTurnLaunch,
    encodeMessage,
    findRefusal: findExecRefusal,
    record,
    readSettings,
    readOpened,
    readGivenUp,
    isNotice,
  };
}

/** What `exec` can do; it is less than what the app-server can. */
export const execCapabilities: Partial<ProviderCapabilities> = {
  tmuxContinuation: false,
  nativeResumeInTmux: false,
  // `exec resume` restores nothing and tells nothing before its turn; the turn's own record is judged while it runs.
  settings: {
    model: 'repeated, not reported',
    permissions: 'repeated, not reported',
    systemPrompt: 'repeated, not reported',
    mcpServers: 'repeated, not reported',
  },
  verbs: {
    interrupt: true,
    steer: false,
    // It never asks: its approval policy is always `never`.
    approve: false,
    answer_question: false,
    archive: true,
    images: true,
    // A turn's commands end with its process.
    background_work: false,
    // Its record tells a compaction only once it is over.
    compaction: false,
    usage: true,
    cost: false,
  },
};

import { defineCodingProvider } from '../../spec/provider-definition.js';
import type { ServedPane } from '../../spec/served-pane.js';
import type { PermissionLevel, SessionConfig } from '../../spec/session-config.js';
import { capabilities, structuredCapabilities } from './capabilities.js';
import { codingAdapter } from './coding-adapter.js';
import { findRefusal } from './delivery.js';
import { execCapabilities, execProcess } from './exec.js';
import { planPaneLaunch, planServerLaunch } from './launch.js';
import { codexProtocol } from './protocol.js';
import { createRolloutReader } from './record.js';
import { isCompressedRollout, isRollout, rolloutFolders, writerLock } from './rollout-place.js';

/** Codex behind an app-server of ours. The same server and the same thread serve it with a pane and without one. */
const served: ServedPane = {
  kind: 'served_pane',
  serverLaunch: planServerLaunch,
  protocol: codexProtocol,
  record: {
    folders: rolloutFolders,
    isRecord: isRollout,
    isForeignForm: isCompressedRollout,
    createReader: createRolloutReader,
    writerLock,
    turnMarks: {
      begin: '"type":"task_started"',
      end: ['"type":"task_complete"', '"type":"turn_aborted"'],
    },
  },
  findRefusal,
};

/** Without `processLifetime: 'turn'`: `codex exec` has no roots of a caller's own. */
const takes = ['writableRoots', 'toolPolicy.inherit'] as const;

/** What a Codex session is launched with. Codex has no tool patterns: `permissions` sets its sandbox. */
export interface CodexCliConfig
  extends Omit<SessionConfig, 'toolPolicy' | 'launcher' | 'outputSchema'> {
  readonly toolPolicy?:
    | { readonly permissions: PermissionLevel; readonly inherit?: boolean | undefined }
    | undefined;
}

/** Codex CLI. */
export const codexCli = defineCodingProvider<CodexCliConfig>()({
  id: 'codex-cli',
  displayName: 'Codex CLI',
  binary: 'codex',
  minimumVersion: '0.171.0',
  certifiedVersion: '0.171.0',
  readVersion: (output) => /(\d+\.\d+\.\d+\S*)/.exec(output)?.[1],
  cliHome: { variable: 'CODEX_HOME', defaultName: '.codex' },
  legacySessionIdKey: 'codex_thread_id',
  nativeIdChosenBy: 'provider',
  capabilities,
  codingAdapter,
  transports: {
    // The pane only shows.
    tmux: { ...served, takes, paneLaunch: planPaneLaunch },
    structured: { ...served, takes, capabilities: structuredCapabilities },
    perTurn: { ...execProcess(served.record), capabilities: execCapabilities },
  },
});

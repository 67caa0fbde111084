import { defineCodingProvider } from '../../spec/provider-definition.js';
import type { SessionConfig } from '../../spec/session-config.js';
import type { TypedPane } from '../../spec/typed-pane.js';
import { capabilities } from './capabilities.js';
import { codingAdapter } from './coding-adapter.js';
import { planDelivery } from './delivery.js';
import { historyRetention } from './history-retention.js';
import {
  ANSWER_FILE,
  APPROVALS_FOLDER,
  APPROVER_FILE,
  ARMED_FILE,
  ARMED_TEXT_FILE,
  REQUEST_FILE,
  SPOOL_FILE,
} from './hook-file-names.js';
import { armGate, readArmedText } from './hooks.js';
import { readHostRequest, writeHostDecision } from './host-requests.js';
import { launchInPane } from './launch.js';
import { createTranscriptReader, holdsConversation } from './record.js';
import { readRegistry } from './registry.js';
import { planResumeMark } from './resume-mark.js';
import { readScreen } from './screen.js';
import { readSignal } from './signals.js';
import { readSteerSign } from './steer-sign.js';
import { createStreamProcess } from './stream-process.js';
import { createUsageCounter } from './stream-usage.js';
import { readVersion } from './version.js';

const typedPane: TypedPane = {
  kind: 'typed_pane',
  launch: launchInPane,
  files: {
    record: (nativeSessionId) => `projects/*/${nativeSessionId}.jsonl`,
    registryFolder: 'sessions',
    spool: SPOOL_FILE,
  },
  planDelivery,
  gate: { arm: armGate, armedFile: ARMED_FILE, textFile: ARMED_TEXT_FILE, readArmedText },
  approvals: {
    approverFile: APPROVER_FILE,
    approvalsFolder: APPROVALS_FOLDER,
    requestFile: REQUEST_FILE,
    answerFile: ANSWER_FILE,
    readRequest: readHostRequest,
    writeAnswer: writeHostDecision,
  },
  holdsConversation,
  planResumeMark,
  createRecordReader: createTranscriptReader,
  createUsageCounter,
  readSteerSign,
  readSignal,
  readRegistry,
  readScreen,
};

/** What a Claude Code session is launched with. Its process lives as long as the session, and it has no sandbox of its own. */
export type ClaudeCodeConfig = Omit<SessionConfig, 'processLifetime' | 'writableRoots'>;

/** Claude Code, driven by typing into its TUI; its transcript says what became of each message. */
export const claudeCode = defineCodingProvider<ClaudeCodeConfig>()({
  id: 'claude-code',
  displayName: 'Claude Code',
  binary: 'claude',
  minimumVersion: '2.1.197',
  certifiedVersion: '2.1.332',
  readVersion,
  cliHome: { variable: 'CLAUDE_CONFIG_DIR', defaultName: '.claude' },
  legacySessionIdKey: 'claude_code_session_id',
  nativeIdChosenBy: 'us',
  capabilities,
  historyRetention,
  codingAdapter,
  transports: { tmux: typedPane, structured: createStreamProcess(typedPane) },
});

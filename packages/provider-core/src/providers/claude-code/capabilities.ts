import type { ProviderCapabilities } from '../../spec/capabilities.js';

/** What holds for Claude Code in a tmux pane. */
export const capabilities: ProviderCapabilities = {
  tmuxContinuation: true,
  nativeResumeInTmux: true,
  requiresStableWorkingDir: true,
  continuation: 'native',
  process: { outlives: true },
  durableBeforeTools: true,
  finishesInterruptedTurns: true,
  stableFields: [
    'working_dir',
    'mcp_config',
    'system_prompt',
    'model',
    'tool_policy',
    'provider',
    'account',
    'native_session_id',
  ],
  settings: {
    model: 'reported',
    permissions: 'reported',
    systemPrompt: 'repeated, not reported',
    mcpServers: 'repeated, not reported',
  },
  verbs: {
    interrupt: true,
    steer: true,
    approve: true,
    answer_question: true,
    archive: false,
    images: false,
    background_work: true,
    compaction: true,
    usage: true,
    cost: false,
  },
  // What the composer would alter is refused before a byte of it is typed.
  normalises: [],
};

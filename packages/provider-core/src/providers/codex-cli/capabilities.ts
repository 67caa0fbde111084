import type { ProviderCapabilities } from '../../spec/capabilities.js';

/** What Codex behind its app-server can do; each claim has its certification. */
export const capabilities: ProviderCapabilities = {
  tmuxContinuation: true,
  nativeResumeInTmux: true,
  requiresStableWorkingDir: true,
  continuation: 'native',
  process: { outlives: true },
  durableBeforeTools: true,
  finishesInterruptedTurns: false,
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
    archive: true,
    images: true,
    background_work: true,
    compaction: true,
    usage: true,
    cost: false,
  },
  // The queue takes every text byte for byte.
  normalises: [],
};

/** Without a terminal it is the same server and the same protocol; only the pane is missing. */
export const structuredCapabilities: Partial<ProviderCapabilities> = {
  tmuxContinuation: false,
  nativeResumeInTmux: false,
};

import type { ProviderCapabilities } from '../spec/capabilities.js';

/** What holds for every model API: nothing native, all of it kept by agent. */
export const modelCapabilities: ProviderCapabilities = {
  tmuxContinuation: false,
  nativeResumeInTmux: false,
  requiresStableWorkingDir: true,
  continuation: 'history',
  process: { outlives: false },
  durableBeforeTools: true,
  finishesInterruptedTurns: false,
  stableFields: ['working_dir', 'mcp_config', 'system_prompt', 'model', 'tool_policy', 'provider'],
  settings: {
    model: 'repeated, not reported',
    permissions: 'repeated, not reported',
    systemPrompt: 'repeated, not reported',
    mcpServers: 'repeated, not reported',
  },
  verbs: {
    interrupt: true,
    steer: false,
    approve: true,
    answer_question: false,
    archive: true,
    images: true,
    background_work: false,
    compaction: false,
    usage: true,
    cost: false,
  },
  normalises: [],
};

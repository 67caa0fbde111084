// One line a provider. The registry, the `ProviderId` type and the certification matrix read this list.
export { claudeCode } from './claude-code/index.js';
export { codexCli } from './codex-cli/index.js';

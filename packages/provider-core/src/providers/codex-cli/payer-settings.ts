import type { PayerSettings } from '../../spec/coding-adapter.js';

/** As keys stand in TOML, in a profile too; what an override of ours says counts before all of it. */
const FOREIGN: readonly (readonly [name: string, pattern: RegExp])[] = [
  ['model_provider', /^[^#\n]*\bmodel_provider["']?\s*=(?!\s*["']openai["'])/m],
  ['openai_base_url', /^[^#\n]*\bopenai_base_url["']?\s*=/m],
  ['chatgpt_base_url', /^[^#\n]*\bchatgpt_base_url["']?\s*=/m],
  ['forced_login_method', /^[^#\n]*\bforced_login_method["']?\s*=\s*["']api["']/m],
];

/** The configuration of Codex, where no endpoint of ours stands above it. */
export const payerSettings: PayerSettings = {
  file: 'config.toml',
  findForeignPayer: (text, { hasEndpoint }) =>
    hasEndpoint ? undefined : FOREIGN.find(([, pattern]) => pattern.test(text))?.[0],
};

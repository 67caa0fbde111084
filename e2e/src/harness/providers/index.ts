import { claudeCode } from './claude-code.js';
import { codexCli } from './codex-cli.js';
import type { ProviderFixture } from './provider-fixture.js';

// One line a provider.
const fixtures: readonly ProviderFixture[] = [claudeCode, codexCli];

/** What the harness knows of a provider; a provider without a fixture cannot be certified. */
export function getProviderFixture(provider: string): ProviderFixture {
  const found = fixtures.find((fixture) => fixture.provider === provider);
  if (!found) throw new Error(`e2e/src/harness/providers has no fixture for ${provider}.`);
  return found;
}

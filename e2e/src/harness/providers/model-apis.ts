import { listModelProviders } from '@holdfast/provider-core';
import type { ModelProtocol } from '@holdfast/provider-core/certification';

/** What the harness knows of a model API: which of the scripted model's protocols it speaks, and below which path. */
export interface ModelApiFixture {
  readonly provider: string;
  readonly protocol: ModelProtocol;
  readonly path: string;
}

// One line a model API.
const fixtures: readonly ModelApiFixture[] = [
  { provider: 'anthropic', protocol: 'anthropic-messages', path: '/v1' },
  { provider: 'google', protocol: 'gemini', path: '/v1beta' },
  { provider: 'openai', protocol: 'openai-responses', path: '/v1' },
  { provider: 'openai-compatible', protocol: 'openai-chat', path: '/v1' },
];

/** Every registered model API; one without a fixture here cannot be certified, and fails. */
export function listModelApiFixtures(): readonly ModelApiFixture[] {
  return listModelProviders().map((provider) => {
    const found = fixtures.find((fixture) => fixture.provider === provider);
    if (!found) throw new Error(`e2e/src/harness/providers has no fixture for ${provider}.`);
    return found;
  });
}

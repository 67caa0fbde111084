import { defineModelProvider } from '../../models/ai-sdk-model.js';

/** Anthropic's models by the Messages API. The conversation so far is cached there, as each step sends it whole. */
export const anthropic = defineModelProvider({
  id: 'anthropic',
  displayName: 'Anthropic',
  package: '@ai-sdk/anthropic',
  baseUrl: 'https://api.anthropic.com/v1',
  keyVariable: 'ANTHROPIC_API_KEY',
  options: { anthropic: { cacheControl: { type: 'ephemeral' } } },
  load: async () => {
    const { createAnthropic } = await import('@ai-sdk/anthropic');
    return ({ model, apiKey = '', baseUrl }) =>
      createAnthropic({ apiKey, baseURL: baseUrl })(model);
  },
});

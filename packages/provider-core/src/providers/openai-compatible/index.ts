import { defineModelProvider } from '../../models/ai-sdk-model.js';

/** Any server that speaks OpenAI's chat completions; its address is given in the config, and a key where it wants one. */
export const openaiCompatible = defineModelProvider({
  id: 'openai-compatible',
  displayName: 'OpenAI-compatible server',
  package: '@ai-sdk/openai-compatible',
  load: async () => {
    const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible');
    return ({ model, apiKey, baseUrl }) =>
      createOpenAICompatible({
        name: 'openai-compatible',
        baseURL: baseUrl,
        includeUsage: true,
        ...(apiKey !== undefined && { apiKey }),
      }).chatModel(model);
  },
});

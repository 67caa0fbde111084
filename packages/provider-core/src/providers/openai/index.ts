import { defineModelProvider } from '../../models/ai-sdk-model.js';

/** OpenAI's models by the Responses API. Nothing is kept at OpenAI: the history is ours, reasoning comes back encrypted. */
export const openai = defineModelProvider({
  id: 'openai',
  displayName: 'OpenAI',
  package: '@ai-sdk/openai',
  baseUrl: 'https://api.openai.com/v1',
  keyVariable: 'OPENAI_API_KEY',
  options: { openai: { store: false } },
  load: async () => {
    const { createOpenAI } = await import('@ai-sdk/openai');
    return ({ model, apiKey = '', baseUrl }) =>
      createOpenAI({ apiKey, baseURL: baseUrl }).responses(model);
  },
});

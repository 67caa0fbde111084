import { defineModelProvider } from '../../models/ai-sdk-model.js';

/** Google's models by the Gemini API. */
export const google = defineModelProvider({
  id: 'google',
  displayName: 'Google Gemini',
  package: '@ai-sdk/google',
  baseUrl: 'https://generativelanguage.googleapis.com/v1beta',
  keyVariable: 'GEMINI_API_KEY',
  load: async () => {
    const { createGoogleGenerativeAI } = await import('@ai-sdk/google');
    return ({ model, apiKey = '', baseUrl }) =>
      createGoogleGenerativeAI({ apiKey, baseURL: baseUrl })(model);
  },
});

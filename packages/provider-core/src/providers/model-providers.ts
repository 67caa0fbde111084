// One line a model API. The registry and the `ModelProviderId` type read this list.
export { anthropic } from './anthropic/index.js';
export { google } from './google/index.js';
export { openai } from './openai/index.js';
export { openaiCompatible } from './openai-compatible/index.js';

import { describeModelApi } from '../../models/__fixtures__/describe-model-api.js';
import { openai } from './index.js';

describeModelApi({ definition: openai, protocol: 'openai-responses', path: '/v1' });

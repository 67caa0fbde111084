import { describeModelApi } from '../../models/__fixtures__/describe-model-api.js';
import { openaiCompatible } from './index.js';

describeModelApi({ definition: openaiCompatible, protocol: 'openai-chat', path: '/v1' });

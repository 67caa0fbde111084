import { describeModelApi } from '../../models/__fixtures__/describe-model-api.js';
import { anthropic } from './index.js';

describeModelApi({ definition: anthropic, protocol: 'anthropic-messages', path: '/v1' });

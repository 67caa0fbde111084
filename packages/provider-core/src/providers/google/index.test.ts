import { describeModelApi } from '../../models/__fixtures__/describe-model-api.js';
import { google } from './index.js';

describeModelApi({ definition: google, protocol: 'gemini', path: '/v1beta' });

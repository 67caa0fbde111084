import { defaultStateDir, findModelProvider } from '@holdfast/provider-core';
import type { ApiAgentOptions } from '../agent-options.js';
import { ApiSessions } from './api-sessions.js';

/** The sessions of an agent on a model API; connects nothing and loads nothing yet. */
export function createApiSessions(options: ApiAgentOptions): ApiSessions {
  const { provider, sessionId, stateDir = defaultStateDir(), limits } = options;
  const definition = findModelProvider(provider);
  if (!definition) throw new Error('unreachable: the options were checked');
  const { openModel } = definition;
  const openMs = limits?.openMs;
  return new ApiSessions({ provider, config: options, sessionId, stateDir, openModel, openMs });
}

import { defaultStateDir, findModelProvider } from '@holdfast/provider-core';
import { type AgentOptions, type ApiAgentOptions, isApiAgent } from '../agent-options.js';
import { ApiSessions } from './api-sessions.js';

/** The sessions of an agent on a model API; absent for a CLI, and where the caller drives sessions of its own. */
export function apiSessionsOf(options: AgentOptions): ApiSessions | undefined {
  if (options.sessions instanceof ApiSessions) return options.sessions;
  return isApiAgent(options) && !options.sessions ? createApiSessions(options) : undefined;
}

/** Connects nothing and loads nothing yet. */
function createApiSessions(options: ApiAgentOptions): ApiSessions {
  const { provider, sessionId, stateDir = defaultStateDir(), limits } = options;
  const definition = findModelProvider(provider);
  if (!definition) throw new Error('unreachable: the options were checked');
  const { openModel } = definition;
  const openMs = limits?.openMs;
  return new ApiSessions({ provider, config: options, sessionId, stateDir, openModel, openMs });
}

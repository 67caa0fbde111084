import {
  type EnvReference,
  type McpServer,
  type ModelConfig,
  type SessionConfig,
  type StableField,
  stableDigests,
  type ToolPolicy,
} from '@holdfast/provider-core';

/** What an agent on a model API is made of. It has no process of a CLI, so it has no option that is about one. */
export interface ApiAgentConfig {
  /** The vendor's model name. */
  readonly model: string;
  /** A value, or the name of a variable of the service's own environment. Not a stable field. */
  readonly apiKey?: string | EnvReference | undefined;
  /** A gateway or the scripted model in place of the vendor's own address. Not a stable field. */
  readonly baseUrl?: string | undefined;
  readonly maxOutputTokens?: number | undefined;
  /** Where stdio MCP servers are started; absolute. */
  readonly workingDir?: string | undefined;
  readonly systemPrompt?: string | undefined;
  readonly mcpServers?: Readonly<Record<string, McpServer>> | undefined;
  /** `{ permissions: 'ask' }` when absent. Patterns name tools as the model knows them: `mcp__<server>__<tool>`. */
  readonly toolPolicy?: ToolPolicy | undefined;
  /** How many requests one attempt at a turn may make; 100 when absent. */
  readonly maxSteps?: number | undefined;
}

/** The settings of an API agent that must stay the same across the turns of one session. */
export const API_STABLE_FIELDS: readonly StableField[] = [
  'provider',
  'working_dir',
  'model',
  'system_prompt',
  'mcp_config',
  'tool_policy',
];

/** The stable fields, each as a digest without secret values. */
export function apiStableDigests(provider: string, config: ApiAgentConfig): Record<string, string> {
  return stableDigests(provider, sessionConfigOfApi(config), API_STABLE_FIELDS);
}

/** The part of the configuration that every kind of session has. */
export function sessionConfigOfApi(config: ApiAgentConfig): SessionConfig {
  const { model, systemPrompt, mcpServers, toolPolicy, workingDir = '' } = config;
  return { workingDir, model, systemPrompt, mcpServers, toolPolicy };
}

/** What the vendor is reached with. */
export function modelConfigOf(config: ApiAgentConfig): ModelConfig {
  const { model, apiKey, baseUrl, maxOutputTokens } = config;
  return { model, apiKey, baseUrl, maxOutputTokens };
}

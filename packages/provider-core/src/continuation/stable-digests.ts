import { findProvider } from '../providers/registry.js';
import type { StableField } from '../spec/capabilities.js';
import type { McpServer, SessionConfig } from '../spec/session-config.js';
import { digestOf } from './canonical-json.js';
import { cliHomeOf } from './preflight.js';

/** The stable fields a session config answers for, each as sha256 of canonical JSON without secret values. */
export function stableDigests(
  provider: string,
  config: SessionConfig,
  fields: readonly StableField[],
): Record<string, string> {
  const values: Partial<Record<StableField, unknown>> = {
    provider,
    working_dir: config.workingDir,
    model: config.model ?? null,
    system_prompt: config.systemPrompt ?? '',
    tool_policy: policyShape(config),
    mcp_config: mcpShape(config.mcpServers ?? {}),
    account: accountShape(provider, config),
  };
  const digests = fields
    .filter((field) => field in values)
    .map((field): [string, string] => [field, digestOf({ value: values[field] ?? null })]);
  return Object.fromEntries(digests);
}

/**
 * Whose login the CLI uses: its home, and whether a key of the caller's own takes the login's place. The key itself and
 * the gateway's address may change.
 */
function accountShape(provider: string, config: SessionConfig) {
  const definition = findProvider(provider);
  return {
    cliHome: definition ? cliHomeOf(definition, config) : (config.cliHome ?? null),
    signIn: config.endpoint ? 'endpoint' : 'login',
  };
}

/** What is newer than the first handles counts only where it is given: an old handle stays the same. */
function policyShape({ toolPolicy, writableRoots, launcher }: SessionConfig) {
  return {
    permissions: toolPolicy?.permissions ?? 'ask',
    allow: [...(toolPolicy?.allow ?? [])].sort(),
    deny: [...(toolPolicy?.deny ?? [])].sort(),
    ...(toolPolicy?.inherit ? { inherit: true } : {}),
    ...(writableRoots ? { writableRoots: [...writableRoots].sort() } : {}),
    // Not its words: they name what else stands on the machine.
    ...(launcher ? { isConfined: true } : {}),
  };
}

/** Values of variables and headers may be secrets and may rotate: only their names count. */
function mcpShape(servers: Readonly<Record<string, McpServer>>) {
  const shapes = Object.entries(servers).map(([name, server]) => [
    name,
    server.stableAs !== undefined ? { stableAs: server.stableAs } : serverShape(server),
  ]);
  return Object.fromEntries(shapes);
}

function serverShape(server: McpServer) {
  return 'command' in server
    ? {
        command: server.command,
        args: server.args ?? [],
        env: Object.keys(server.env ?? {}).sort(),
      }
    : { url: server.url, headers: Object.keys(server.headers ?? {}).sort() };
}

import { findProvider } from '@holdfast/provider-core';
import type { AgentIdentity, AgentSessionHandle } from '../agent-session-handle.js';
import { decodeAgentSessionHandle } from '../agent-session-handle.wire.js';
import type { LegacyRuntime } from './legacy-runtime.js';
import { decodeLegacyRuntime, readObject } from './legacy-runtime.wire.js';

/** Who the mapped session belongs to, and what only the caller can know. */
export interface LegacyMappingOptions {
  /** Replaces what the record says, field by field: a restored session belongs to its new owner. */
  readonly identity?: Partial<AgentIdentity> | undefined;
  /** `workspace_path` was the CLI's own working directory; false when absent, and then it is no part of the handle. */
  readonly workspaceIsWorkingDir?: boolean | undefined;
}

/**
 * Maps a legacy runtime record, field by field, to the handle that continues its session. A nested handle wins, blank
 * fields of it fall through to the legacy ones. `undefined` for what is no record; without any native id the handle
 * has none, and continuing it is `non_continuable`.
 */
export function agentSessionHandleFromLegacyRuntime(
  value: unknown,
  { identity = {}, workspaceIsWorkingDir = false }: LegacyMappingOptions = {},
): AgentSessionHandle | undefined {
  const runtime = decodeLegacyRuntime(value);
  if (!runtime) return undefined;
  const nested = readObject(runtime.agentSessionHandle) ?? {};
  const newer = withoutBlanks(readObject(nested['provider']) ?? {});
  const legacy = legacyProvider(runtime, newer, workspaceIsWorkingDir);
  const provider = { ...legacy, ...newer };
  const handle = decodeAgentSessionHandle({ ...nested, provider }, identity);
  return { ...handle, ...identity };
}

function legacyProvider(
  runtime: LegacyRuntime,
  newer: Readonly<Record<string, unknown>>,
  workspaceIsWorkingDir: boolean,
): Readonly<Record<string, unknown>> {
  const provider = runtime.provider ?? textOf(newer['provider']);
  const definition = provider === undefined ? undefined : findProvider(provider);
  const ownKey = definition && readObject(runtime)?.[definition.legacySessionIdKey];
  return withoutBlanks({
    provider,
    transport: runtime.transport ?? defaultTransport(runtime, definition),
    native_session_id: runtime.externalSessionId ?? ownKey,
    project_dir_id: runtime.projectDirId,
    model: runtime.modelId,
    working_dir: workspaceIsWorkingDir ? runtime.workspacePath : undefined,
  });
}

/** What older records left out was always the provider's first transport. */
function defaultTransport(
  { kind }: LegacyRuntime,
  definition: ReturnType<typeof findProvider>,
): string | undefined {
  if (kind === 'llm_agent') return 'api';
  if (!definition) return undefined;
  return definition.transports.tmux ? 'tmux' : 'structured';
}

function withoutBlanks(
  record: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  const isBlank = (value: unknown) =>
    value === undefined || value === null || (typeof value === 'string' && value.trim() === '');
  return Object.fromEntries(Object.entries(record).filter(([, value]) => !isBlank(value)));
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

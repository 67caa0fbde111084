import { NonContinuableError } from '@holdfast/provider-core';
import {
  decodeCodingProviderSessionHandle,
  encodeCodingProviderSessionHandle,
  snakeCaseCodec,
} from '@holdfast/provider-core/wire';
import * as z from 'zod';
import type { AgentIdentity, AgentSessionHandle } from './agent-session-handle.js';

const envelope = snakeCaseCodec({
  agent_id: z.string().optional(),
  session_id: z.string().optional(),
  owner_id: z.string().optional(),
  scope: z.string().optional(),
  correlation_id: z.string().optional(),
  provider: z.unknown().optional(),
});

/** The handle as JSON to keep: snake_case, unknown keys included. */
export type AgentSessionHandleJson = Readonly<Record<string, unknown>>;

/** The handle in the spelling of the wire. */
export function encodeAgentSessionHandle(handle: AgentSessionHandle): AgentSessionHandleJson {
  return z.encode(envelope, {
    ...handle,
    provider: encodeCodingProviderSessionHandle(handle.provider),
  });
}

/**
 * Reads a handle from its JSON object, JSON string or in-memory form. Identity fields a legacy writer left out are
 * filled from `defaults`, then from the session id. What is no handle at all is a {@link NonContinuableError}.
 */
export function decodeAgentSessionHandle(
  value: unknown,
  defaults: Partial<AgentIdentity> = {},
): AgentSessionHandle {
  const parsed = envelope.safeDecode(toWire(value) as z.input<typeof envelope>);
  if (!parsed.success || parsed.data.provider === undefined) {
    throw new NonContinuableError('unknown', 'provider', 'not an agent session handle');
  }
  const provider = decodeCodingProviderSessionHandle(parsed.data.provider);
  return { ...parsed.data, ...fillIdentity(parsed.data, defaults), provider };
}

/** Fills what is blank, so that no field of an identity is ever empty. */
export function fillIdentity(
  given: { readonly [Key in keyof AgentIdentity]?: string | undefined },
  defaults: { readonly [Key in keyof AgentIdentity]?: string | undefined },
): AgentIdentity {
  const sessionId = given.sessionId ?? defaults.sessionId ?? given.ownerId ?? 'unnamed';
  return {
    sessionId,
    agentId: given.agentId ?? defaults.agentId ?? sessionId,
    ownerId: given.ownerId ?? defaults.ownerId ?? sessionId,
    scope: given.scope ?? defaults.scope ?? 'chat',
    correlationId: given.correlationId ?? defaults.correlationId ?? sessionId,
  };
}

/** In-memory handles are accepted too: a caller that kept one need not know the wire's spelling. */
function toWire(value: unknown): unknown {
  const object = typeof value === 'string' ? parseJsonText(value) : value;
  if (!isObject(object) || !('provider' in object)) return undefined;
  const { provider, ...identity } = object;
  return { ...respell(identity), provider: isObject(provider) ? respell(provider) : provider };
}

/** Spells the keys we know as the wire does; values are judged by the codecs alone. */
function respell(value: object): object {
  return Object.fromEntries(
    Object.entries(value).map(([key, field]) => [WIRE_KEYS[key] ?? key, field]),
  );
}

const WIRE_KEYS: Readonly<Record<string, string>> = {
  agentId: 'agent_id',
  sessionId: 'session_id',
  ownerId: 'owner_id',
  correlationId: 'correlation_id',
  nativeSessionId: 'native_session_id',
  tmuxSession: 'tmux_session',
  workingDir: 'working_dir',
  projectDirId: 'project_dir_id',
  schemaVersion: 'schema_version',
  stableFields: 'stable_fields',
  lastTurnId: 'last_turn_id',
};

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

function parseJsonText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

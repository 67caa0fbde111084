import type { Way } from '../spec/capabilities.js';
import type { ProviderDefinition } from '../spec/provider-definition.js';
import type { Transport } from '../spec/provider-session-handle.js';
import type { SessionConfig } from '../spec/session-config.js';
import type { LaunchRecord } from '../state/launch-record.js';
import { isoInstant } from '../time/clock.js';
import { listCandidates, type TransportChoice } from './choose-way.js';
import type { Preflight } from './preflight.js';
import { stableDigests } from './stable-digests.js';
import type { ResolvedTurnOptions } from './turn-options.js';

/** What a launch record begins with, besides the config and what a preflight found. */
export interface RecordBeginning {
  readonly at: string;
  /** The ways it may be driven in; the first is the one it begins with. */
  readonly ways: readonly [Way, ...Way[]];
  readonly choice: TransportChoice;
}

/** A launch record for a session that is about to begin. */
export function newRecord(
  definition: ProviderDefinition,
  config: SessionConfig,
  { cliVersion, cliHome }: Preflight,
  { at, ways: [way], choice }: RecordBeginning,
): LaunchRecord {
  return {
    schemaVersion: 1,
    provider: definition.id,
    transport: transportName(way),
    transportChoice: choice,
    ways: [way],
    nativeSessionId: '',
    config,
    stableFields: stableDigests(
      definition.id,
      { ...config, cliHome },
      definition.capabilities.stableFields,
    ),
    cliVersion,
    cliHome,
    nonce: crypto.randomUUID(),
    acknowledged: false,
    revision: 0,
    status: 'idle',
    archived: false,
    createdAt: at,
    updatedAt: at,
    expectedPermissions: config.toolPolicy?.permissions ?? 'ask',
  };
}

/** How a new session begins: the ways the caller's choice allows, best first. */
export async function beginningOf(
  definition: ProviderDefinition,
  config: SessionConfig,
  { clock, transport: choice = 'auto' }: ResolvedTurnOptions,
): Promise<RecordBeginning> {
  return { at: isoInstant(clock), ways: await listCandidates(definition, choice, config), choice };
}

/** The handle's word for a way. */
export function transportName(way: Way): Transport {
  return way === 'tmux' ? 'tmux' : 'structured';
}

/** The way a session was last driven in. */
export function wayOfRecord({ transport, config }: LaunchRecord): Way {
  if (transport === 'tmux') return 'tmux';
  return config.processLifetime === 'turn' ? 'per_turn' : 'structured';
}

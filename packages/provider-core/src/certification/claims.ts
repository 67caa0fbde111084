import {
  capabilitiesOf,
  declarationOf,
  holdsFor,
  listWays,
  type WayDeclaration,
} from '../providers/ways.js';
import type { ProviderCapabilities, Verb, Way } from '../spec/capabilities.js';
import type { ProviderDefinition } from '../spec/provider-definition.js';

/** The part of a definition that decides what must be proven of it. */
export type ClaimingDefinition = Pick<
  ProviderDefinition,
  'id' | 'capabilities' | 'transports' | 'certifiedVersion' | 'historyRetention'
>;

/** What a provider says of itself for one way to drive it; it decides which certifications bind that way. */
export interface Claims {
  readonly way: Way;
  /** What holds in tmux, with the way's own claims laid over it. */
  readonly capabilities: ProviderCapabilities;
  readonly driver: WayDeclaration['kind'];
  /** Every way the provider has, this one included. */
  readonly ways: readonly Way[];
  /** By what it is driven in tmux, where it is. */
  readonly paneDriver?: WayDeclaration['kind'] | undefined;
  /** The CLI deletes old sessions by itself. */
  readonly deletesHistory: boolean;
}

/**
 * What the definition claims for one way and one version of its CLI: a verb that came later than `cliVersion` is not
 * claimed. `undefined` where it has no such way.
 */
export function claimsOf(
  definition: ClaimingDefinition,
  way: Way,
  cliVersion: string = definition.certifiedVersion,
): Claims | undefined {
  const declaration = declarationOf(definition, way);
  if (!declaration) return undefined;
  const capabilities = capabilitiesOf(definition, way);
  const verbs = { ...capabilities.verbs };
  for (const [verb, claim] of Object.entries(capabilities.verbs)) {
    Object.assign(verbs, { [verb]: holdsFor(claim, cliVersion) });
  }
  return {
    way,
    capabilities: { ...capabilities, verbs },
    driver: declaration.kind,
    ways: listWays(definition),
    paneDriver: definition.transports.tmux?.kind,
    deletesHistory: definition.historyRetention !== undefined,
  };
}

/** Every way of a provider with its claims. */
export function listClaims(definition: ClaimingDefinition, cliVersion?: string): readonly Claims[] {
  return listWays(definition).flatMap((way) => claimsOf(definition, way, cliVersion) ?? []);
}

/** Whether a verb is claimed. */
export function claimsVerb({ capabilities }: Claims, verb: Verb): boolean {
  return capabilities.verbs[verb] !== false;
}

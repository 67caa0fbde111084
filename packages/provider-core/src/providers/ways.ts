import type { ProviderCapabilities, VerbClaim, Way } from '../spec/capabilities.js';
import type { ProviderDefinition, ProviderTransports } from '../spec/provider-definition.js';
import type { LaunchOption, SessionConfig } from '../spec/session-config.js';

/** One way's declaration: what a transport acts on. */
export type WayDeclaration = NonNullable<ProviderTransports[keyof ProviderTransports]>;

const KEYS = {
  tmux: 'tmux',
  structured: 'structured',
  per_turn: 'perTurn',
} as const satisfies Record<Way, keyof ProviderTransports>;

const WAYS: readonly Way[] = ['tmux', 'structured', 'per_turn'];

/** The ways a provider can be driven. */
export function listWays({ transports }: Pick<ProviderDefinition, 'transports'>): readonly Way[] {
  return WAYS.filter((way) => transports[KEYS[way]] !== undefined);
}

/** What the provider declares for a way, if it has it. */
export function declarationOf(
  { transports }: Pick<ProviderDefinition, 'transports'>,
  way: Way,
): WayDeclaration | undefined {
  return transports[KEYS[way]];
}

/** What a provider claims for one way: what holds in tmux, and where that way differs. */
export function capabilitiesOf(
  { capabilities, transports }: Pick<ProviderDefinition, 'capabilities' | 'transports'>,
  way: Way,
): ProviderCapabilities {
  if (way === 'tmux') return capabilities;
  const withoutTerminal = { tmuxContinuation: false, nativeResumeInTmux: false };
  return { ...capabilities, ...transports[KEYS[way]]?.capabilities, ...withoutTerminal };
}

/** The options of a config that not every way takes. */
function launchOptionsOf(config: SessionConfig): readonly LaunchOption[] {
  const given: Readonly<Record<LaunchOption, unknown>> = {
    writableRoots: config.writableRoots,
    launcher: config.launcher,
    outputSchema: config.outputSchema,
    'toolPolicy.inherit': config.toolPolicy?.inherit || undefined,
  };
  return OPTIONS.filter((option) => given[option] !== undefined);
}

const OPTIONS = ['writableRoots', 'launcher', 'outputSchema', 'toolPolicy.inherit'] as const;

/** Whether a way takes every launch option that a config gives. */
export function takesConfig(
  { transports }: Pick<ProviderDefinition, 'transports'>,
  way: Way,
  config: SessionConfig,
): boolean {
  const taken = transports[KEYS[way]]?.takes ?? [];
  return launchOptionsOf(config).every((option) => taken.includes(option));
}

/** The options of a config that none of the ways takes, or not with the others; none when some way takes them all. */
export function findOptionsNotTaken(
  definition: Pick<ProviderDefinition, 'transports'>,
  config: SessionConfig,
  ways: readonly Way[] = listWays(definition),
): readonly LaunchOption[] {
  if (ways.some((way) => takesConfig(definition, way, config))) return [];
  const given = launchOptionsOf(config);
  const taken = (option: LaunchOption) =>
    ways.some((way) => definition.transports[KEYS[way]]?.takes?.includes(option));
  const unknown = given.filter((option) => !taken(option));
  return unknown.length > 0 ? unknown : given;
}

/** Whether a claim holds for a version of the CLI. */
export function holdsFor(claim: VerbClaim, cliVersion: string): boolean {
  return typeof claim === 'boolean' ? claim : compareVersions(cliVersion, claim.since) >= 0;
}

/** Compares dotted versions number by number; negative when `left` is older. */
export function compareVersions(left: string, right: string): number {
  const numbers = (version: string) =>
    version.split(/[.-]/).map((part) => Number.parseInt(part, 10) || 0);
  const [first, second] = [numbers(left), numbers(right)];
  for (let index = 0; index < Math.max(first.length, second.length); index++) {
    const difference = (first[index] ?? 0) - (second[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

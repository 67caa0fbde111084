import { type Claims, claimsVerb } from '../claims.js';
import type { CertificationSubject } from '../subject.js';

/** One behaviour, the claim that makes it binding, and the proof of it. */
export interface Requirement {
  readonly behaviour: string;
  /** The claims of a way that make this requirement binding for it. */
  readonly requiredBy: (claims: Claims) => boolean;
  readonly prove: (subject: CertificationSubject) => Promise<void>;
  /** Publicly reported cases, by their ids, whose right outcome the proof asserts. */
  readonly covers?: readonly string[];
}

/** A session of this way can be continued at all. */
export function continues({ way, capabilities }: Claims): boolean {
  return way === 'tmux' ? capabilities.tmuxContinuation : capabilities.continuation === 'native';
}

/** The provider is driven in a terminal. */
export function isInTmux({ way }: Claims): boolean {
  return way === 'tmux';
}

/** Messages are typed into the provider's own composer. */
export function isTypedInto({ driver }: Claims): boolean {
  return driver === 'typed_pane';
}

/** A test for one stable field, and the setting it is kept by where there is one. */
export function keeps(
  field: Claims['capabilities']['stableFields'][number],
  setting?: keyof Claims['capabilities']['settings'],
): (claims: Claims) => boolean {
  return ({ capabilities }) =>
    capabilities.stableFields.includes(field) &&
    (setting === undefined || Boolean(capabilities.settings[setting]));
}

/** A test for one verb. */
export function can(verb: keyof Claims['capabilities']['verbs']): (claims: Claims) => boolean {
  return (claims) => claimsVerb(claims, verb);
}

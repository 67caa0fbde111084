import type { ProviderCapabilities } from './capabilities.js';
import type { CodingAdapter } from './coding-adapter.js';
import type { Transport } from './provider-session-handle.js';
import type { ServedPane } from './served-pane.js';
import type { LaunchOption, SessionConfig } from './session-config.js';
import type { StreamProcess } from './stream-process.js';
import type { TurnProcess } from './turn-process.js';
import type { TypedPane } from './typed-pane.js';

/**
 * What a provider folder declares: data and pure functions. It opens nothing, waits
 * for nothing and catches nothing; the transports act on it, once for all providers.
 */
export interface ProviderDefinition<
  Config extends SessionConfig = SessionConfig,
  Id extends string = string,
> {
  readonly id: Id;
  /** The CLI's name for people. */
  readonly displayName: string;
  /** The executable's name, looked up on PATH when the config names no binary. */
  readonly binary: string;
  /** The oldest version the definition was certified on. */
  readonly minimumVersion: string;
  /** Reads the version out of what `<binary> --version` prints. */
  readonly readVersion: (output: string) => string | undefined;
  /** The variable that moves the CLI's own home, and its default name under the user's home. */
  readonly cliHome: { readonly variable: string; readonly defaultName: string };
  /** The key under which older systems kept the native id (`claude_code_session_id`, …). */
  readonly legacySessionIdKey: string;
  /** Who makes a new session's native id: we hand one in (`us`), or the provider tells its own (`provider`). */
  readonly nativeIdChosenBy: 'us' | 'provider';
  /** What holds in tmux; each other way says where it differs. */
  readonly capabilities: ProviderCapabilities;
  readonly transports: ProviderTransports;
  /** The highest version that was certified; a newer one runs with what is claimed here, and says so. */
  readonly certifiedVersion: string;
  /**
   * How work that nobody watches is driven: whatever an agent does outside a chat, unless its caller names a transport. As any
   * other work when absent.
   */
  readonly unattended?: Exclude<Transport, 'api'> | undefined;
  /** How the CLI is driven for coding jobs; not at all when absent. */
  readonly codingAdapter?: CodingAdapter | undefined;
  /** How long the CLI keeps an untouched session, where it deletes old ones by itself. */
  readonly historyRetention?: HistoryRetention | undefined;
  /** Carries the config type; never set. */
  readonly configType?: Config;
}

/** The ways to drive a provider; what is absent is not there. */
export interface ProviderTransports {
  readonly tmux?: (TypedPane | ServedPane) & WayOptions;
  /** No terminal: the CLI's own protocol. */
  readonly structured?: (StreamProcess | ServedPane) & WayClaims;
  /** No terminal, and a process for each turn (`processLifetime: 'turn'`). */
  readonly perTurn?: TurnProcess & WayClaims;
}

/** The launch options that a way can take; none when absent. */
export interface WayOptions {
  readonly takes?: readonly LaunchOption[] | undefined;
}

/** Where a way's claims differ from those in tmux. */
export interface WayClaims extends WayOptions {
  readonly capabilities: Partial<ProviderCapabilities>;
}

/** The CLI's own deletion of old sessions. */
export interface HistoryRetention {
  readonly defaultDays: number;
  /** Reads the days out of the CLI's settings file below its home; absent when it does not say. */
  readonly settingsFile: string;
  readonly readDays: (settings: unknown) => number | undefined;
}

/**
 * Returns its argument, typed: `defineCodingProvider<MyConfig>()({ id: 'my-cli', … })`. The config type says which
 * options the provider has; the id becomes part of `ProviderId`.
 */
export function defineCodingProvider<Config extends SessionConfig>(): <const Id extends string>(
  definition: ProviderDefinition<Config, Id>,
) => ProviderDefinition<Config, Id> {
  return (definition) => definition;
}

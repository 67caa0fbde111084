/** How a provider is driven. */
export type Transport = 'tmux' | 'structured' | 'api';

/** What is known of the processes behind a handle. */
export type HandleStatus = 'active' | 'idle' | 'lost' | 'closed';

/**
 * A JSON-safe record that finds one provider session again. On the wire it is the
 * snake_case object of `docs/wire-format.md`; keys and statuses this version does
 * not know survive a round trip.
 */
export interface CodingProviderSessionHandle {
  readonly provider: string;
  readonly transport: Transport;
  /** The provider's own id of the session. */
  readonly nativeSessionId?: string | undefined;
  /** A hint: the name of the tmux session last used. Never an identity. */
  readonly tmuxSession?: string | undefined;
  /** Absolute path in which the session was started. */
  readonly workingDir?: string | undefined;
  readonly projectDirId?: string | undefined;
  readonly model?: string | undefined;
  /** `active`, `idle`, `lost` or `closed`; a newer writer may know more. */
  readonly status?: string | undefined;
  readonly schemaVersion?: number | undefined;
  /** Grows with every published change of the handle. */
  readonly revision?: number | undefined;
  /** Stable field to sha256 of its canonical JSON, without secret values. */
  readonly stableFields?: Readonly<Record<string, string>> | undefined;
  readonly lastTurnId?: string | undefined;
}

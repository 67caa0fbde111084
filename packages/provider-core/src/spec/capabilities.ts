/** A setting that must stay the same across the turns of one session. */
export type StableField =
  | 'working_dir'
  | 'mcp_config'
  | 'system_prompt'
  | 'model'
  | 'tool_policy'
  | 'provider'
  | 'account'
  | 'native_session_id';

/** How a setting is kept over a resume: read back from the provider, or given again and not reported. */
export type SettingAfterResume = 'reported' | 'repeated, not reported';

/** What a caller may ask of a session, and facts a session reports; each is claimed per transport. */
export type Verb =
  | 'interrupt'
  | 'steer'
  | 'approve'
  | 'answer_question'
  | 'archive'
  | 'images'
  | 'background_work'
  | 'compaction'
  | 'usage'
  | 'cost';

/** Whether a verb is there: in every certified version, in none, or from a version on. */
export type VerbClaim = boolean | { readonly since: string };

/** How a driver reaches a session; the key of capabilities, journals and the certification table. */
export type Way = 'tmux' | 'structured' | 'per_turn';

/** A provider's claims for one way to drive it. */
export interface ProviderCapabilities extends SessionCapabilities {
  readonly verbs: Readonly<Record<Verb, VerbClaim>>;
  /** How a text may differ at the model from what was given; nothing when bytes in are bytes at the model. */
  readonly normalises: readonly string[];
}

/** What a provider claims. Every claim is bound to certifications; an unclaimed thing is not supported. */
interface SessionCapabilities {
  /** The session can be continued in a tmux pane. */
  readonly tmuxContinuation: boolean;
  /** A lost pane is replaced by one that resumes the native session. */
  readonly nativeResumeInTmux: boolean;
  /** A changed working directory makes the handle stale. */
  readonly requiresStableWorkingDir: boolean;
  /** Who keeps the conversation: the provider itself, or our own history. */
  readonly continuation: 'native' | 'history';
  readonly process: {
    /** The provider's process goes on when the service dies. */
    readonly outlives: boolean;
  };
  /** A tool runs only after the user message is durable in the provider's record. */
  readonly durableBeforeTools: boolean;
  /** After a resume the CLI can finish by itself a turn that a crash cut off. */
  readonly finishesInterruptedTurns: boolean;
  readonly stableFields: readonly StableField[];
  readonly settings: Readonly<
    Record<'model' | 'permissions' | 'systemPrompt' | 'mcpServers', SettingAfterResume>
  >;
}

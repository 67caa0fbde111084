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

/** What a provider claims. Every claim is bound to certifications; an unclaimed thing is not supported. */
export interface ProviderCapabilities {
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

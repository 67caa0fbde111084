/** What an older system kept of an agent beside a chat (`ChatHistoryAgentRuntime`). Every field may be missing. */
export interface LegacyRuntime {
  /** `coding_agent` or `llm_agent`. */
  readonly kind?: string | undefined;
  readonly provider?: string | undefined;
  readonly modelId?: string | undefined;
  readonly transport?: string | undefined;
  /** The provider's own id of the session, under its old name. */
  readonly externalSessionId?: string | undefined;
  /** Information only: what a provider can do is told by its capabilities. */
  readonly resumeSupported?: boolean | undefined;
  /** Information only: a resume flag is the provider's own business. */
  readonly resumeFlag?: string | undefined;
  readonly projectDirId?: string | undefined;
  readonly workspacePath?: string | undefined;
  readonly workshopMode?: string | undefined;
  readonly capturedAt?: string | undefined;
  /** The handle of a newer writer, as object or JSON string. */
  readonly agentSessionHandle?: unknown;
  readonly serverName?: string | undefined;
  readonly selectedTools?: readonly string[] | undefined;
}

/** A secret kept by name: read from the service's own environment at each launch, never stored. */
export interface EnvReference {
  readonly env: string;
}

/** One MCP server a session may use, over stdio or HTTP. */
export type McpServer = (
  | {
      readonly command: string;
      readonly args?: readonly string[];
      readonly env?: Readonly<Record<string, string>>;
    }
  | { readonly url: string; readonly headers?: Readonly<Record<string, string>> }
) & {
  /** Compared across turns in place of command, address and headers: for a server whose address or token changes with a restart. */
  readonly stableAs?: string | undefined;
};

/**
 * What the CLI may do without asking, from strict to loose: `read_only` changes
 * nothing, `ask` asks (and is refused where nobody answers), `edit` may edit the
 * working directory, `full` may do anything.
 */
export type PermissionLevel = 'read_only' | 'ask' | 'edit' | 'full';

/** What the CLI may do without asking; the same or stricter after every resume. */
export interface ToolPolicy {
  readonly permissions: PermissionLevel;
  /** The provider's own tool patterns that are allowed without asking. */
  readonly allow?: readonly string[];
  /** The provider's own tool patterns that are never allowed. */
  readonly deny?: readonly string[];
  /** Leaves it to the CLI's own configuration what is allowed; what comes out looser than `permissions` is refused as ever. */
  readonly inherit?: boolean | undefined;
}

/** What not every way of driving a CLI can take; each way names what it takes. */
export type LaunchOption = 'writableRoots' | 'launcher' | 'outputSchema' | 'toolPolicy.inherit';

/** What a session is launched with, on the first turn and on every resume. */
export interface SessionConfig {
  /** Absolute path; part of the session's identity. */
  readonly workingDir: string;
  readonly model?: string | undefined;
  /** Appended to the CLI's own instructions. */
  readonly systemPrompt?: string | undefined;
  readonly mcpServers?: Readonly<Record<string, McpServer>> | undefined;
  /** `{ permissions: 'ask' }` when absent. */
  readonly toolPolicy?: ToolPolicy | undefined;
  readonly effort?: 'low' | 'medium' | 'high' | undefined;
  /** Added to the allow-listed environment of the CLI. Not a stable field. */
  readonly env?: Readonly<Record<string, string | EnvReference>> | undefined;
  /** A gateway or the scripted model, in place of the vendor's own address. Not a stable field. */
  readonly endpoint?:
    | { readonly baseUrl: string; readonly apiKey?: string | EnvReference | undefined }
    | undefined;
  /** The CLI's own home; absent, the CLI's default, where nothing is edited. */
  readonly cliHome?: string | undefined;
  /** Absolute path of the CLI's binary; absent, it is found on PATH. */
  readonly binary?: string | undefined;
  /** Allows to mark `workingDir` as trusted in the CLI's own configuration. */
  readonly trustWorkingDir?: boolean | undefined;
  /** In structured transport: one process (or server) for the whole session when absent, or one for each turn. */
  readonly processLifetime?: 'session' | 'turn' | undefined;
  /** The message that makes a cut-off turn go on; `Continue.` when absent. */
  readonly nudge?: string | undefined;
  /**
   * Absolute paths, besides `workingDir`, of all that commands may write, by the CLI's own sandbox: no temporary folder and no
   * network. For the permissions `ask` and `edit`.
   */
  readonly writableRoots?: readonly string[] | undefined;
  /**
   * A command, by absolute path, and its arguments, in front of the CLI's binary: it confines the CLI and executes it, in the
   * same pid namespace, as itself or as a child that ends with it. It leaves `cliHome`, which must be given, writable.
   */
  readonly launcher?: readonly string[] | undefined;
  /** JSON schema of every answer: a turn's text is then that JSON. */
  readonly outputSchema?: Readonly<Record<string, unknown>> | undefined;
}

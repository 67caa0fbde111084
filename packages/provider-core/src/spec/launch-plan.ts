import type { EnvReference, SessionConfig } from './session-config.js';

/** What a launch is planned from; the same for the first launch and for every resume. */
export interface LaunchRequest {
  readonly config: SessionConfig;
  readonly cliVersion: string;
  /** Absolute path of the CLI's home. */
  readonly cliHome: string;
  /** Absent at the first launch of a provider that picks the id itself. */
  readonly nativeSessionId?: string | undefined;
  /** Whether the provider already holds a record of the session. */
  readonly resume: boolean;
  /** Let the CLI finish by itself a turn that a crash cut off (`onInterrupted: 'resume'`). */
  readonly finishInterruptedTurn: boolean;
  /** Loopback address, with a token, at which hooks may tell a living service at once what they also write down. */
  readonly signalUrl?: string | undefined;
  /** Absolute folder, 0700, where the plan's files and the hooks' spool live. */
  readonly filesDir: string;
}

/** How a process is started. Prompts, settings and MCP configuration are files, never arguments. */
export interface LaunchPlan {
  /** Arguments after the binary. Hold no user text and no secret. */
  readonly args: readonly string[];
  /** Added to the allow-listed environment; a reference is resolved at the launch and never written down. */
  readonly env: Readonly<Record<string, string | EnvReference>>;
  /** Written 0600 (0700 when executable) into `filesDir` before the start. */
  readonly files: readonly PlannedFile[];
}

/** A file that a launch needs, written with mode 0600 into the launch's own folder. */
export interface PlannedFile {
  /** Name inside `filesDir`. */
  readonly name: string;
  readonly content: string;
  readonly executable?: boolean;
}

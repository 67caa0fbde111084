import type { SessionConfig } from './session-config.js';

/** Who decides what the CLI may do: the policy of whoever runs it, or the owner's own configuration of the CLI. */
export interface CodingPermissions {
  /** `agent-policy`, or the adapter's own source such as `codex-cli`. */
  readonly source: string;
  /** One of the modes that the adapter lists for the source. */
  readonly mode: string;
}

/** What a coding job's session is planned from. Every path is absolute, and the same for every job of a thread. */
export interface CodingPlanRequest {
  readonly role: 'implement' | 'review';
  /** The rebuilt repository. A reviewer may not write here. */
  readonly workTree: string;
  /** What the CLI's own git reads of it; nothing that the CLI starts may write here. */
  readonly gitDir?: string | undefined;
  /** Empty at the start of a job; a reviewer's only writable place. */
  readonly scratch: string;
  /** Where an implementer may write, inside `workTree`. */
  readonly writableRoots: readonly string[];
  /** Folders that the CLI writes for itself (its home, our hooks' spool) and that a namespace must leave writable. */
  readonly ownFolders: readonly string[];
  /** Folders that nothing the CLI starts may see: other threads, their records. */
  readonly hiddenFolders: readonly string[];
  readonly permissions: CodingPermissions;
  /** Absolute path of bubblewrap; absent where there is none, and then no namespace is made. */
  readonly bubblewrap?: string | undefined;
  /** JSON schema that the answer must have; a review's. */
  readonly outputSchema?: Readonly<Record<string, unknown>> | undefined;
}

/** How the session of a coding job is launched. */
export interface CodingPlan {
  /** Everything of the launch but who pays for it: model, home, endpoint and binary come from the runner. */
  readonly config: SessionConfig;
  /** The bounds that nothing enforces here, each as a clause for people; empty where all are. */
  readonly unenforced: readonly string[];
}

/** Where the CLI's own settings say who pays. */
export interface PayerSettings {
  /** Below the CLI's home. */
  readonly file: string;
  /** The setting, by its name, that has another than the CLI's login pay or answer; absent where none does. */
  readonly findForeignPayer: (
    settings: string,
    launch: { readonly hasEndpoint: boolean },
  ) => string | undefined;
}

/** How a provider's CLI is driven for coding jobs: data and one pure function, as everything a provider declares. */
export interface CodingAdapter {
  /** Such as `codex-app-server-v1`. */
  readonly adapterId: string;
  /** Ours: changes whenever what the adapter does changes. */
  readonly adapterVersion: string;
  /** The CLI's protocol that is spoken. */
  readonly adapterProtocolVersion: string;
  /** Such as `coding.codex-app-server-v1`. */
  readonly actionKind: string;
  /** Whether the CLI can put a conversation away itself; `tombstone`: only our record says that it is closed. */
  readonly archive: 'native' | 'tombstone';
  /** The permission modes of each source. */
  readonly permissionModes: Readonly<Record<string, readonly string[]>>;
  /** Looked into before a job that a personal subscription is to pay for. */
  readonly payerSettings?: PayerSettings | undefined;
  readonly plan: (request: CodingPlanRequest) => CodingPlan;
}

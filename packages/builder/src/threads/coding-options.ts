import type { Sha256 } from './coding-job.js';
import type { AdapterQualification, AdapterUse } from './contract/qualification.wire.js';
import type { SecretReference, WorkerCli, WorkerPolicy } from './worker/worker-spec.js';

/** What a builder needs to run coding jobs. */
export interface CodingOptions {
  /** This host, and the service's id: no thread crosses either. */
  readonly host: string;
  readonly origin: string;
  /** Digest of the data boundary that the service works in. */
  readonly boundary: Sha256;
  /** `file:` URI that ends with a slash; every repository bundle stands below it. */
  readonly repositoryUriPrefix: string;
  readonly runners: readonly CodingRunnerOptions[];
  /** Where repositories are rebuilt; `workspaces` in the data directory when absent. */
  readonly workspacesDir?: string | undefined;
  /** Absolute path of git; found on PATH when absent. */
  readonly git?: string | undefined;
  /**
   * Absolute path of bubblewrap; found on PATH when absent. No namespace is made where there is none, nor for a role whose
   * runner names no home of its own in `cliHomes`.
   */
  readonly bubblewrap?: string | undefined;
  /** Absolute path of the program of the workers; the installed one when absent. For tests that make one fail. */
  readonly workerFile?: string | undefined;
}

/** The CLI of a runner. A key that stands here literally is told to workers by a variable of theirs, and written down nowhere. */
export interface RunnerCli extends Omit<WorkerCli, 'cliHome' | 'endpoint'> {
  readonly endpoint?:
    | { readonly baseUrl: string; readonly apiKey?: string | SecretReference | undefined }
    | undefined;
}

/** One runner: an adapter with its CLI, its policy and its homes. Jobs with a directive are pinned to one by its id. */
export interface CodingRunnerOptions {
  readonly runnerId: string;
  /** Such as `codex-app-server-v1` or `claude-code-v1`. */
  readonly adapter: string;
  readonly authenticationProfile?: 'personal-subscription' | 'enterprise-api' | undefined;
  /** Binary, endpoint and variables of the CLI. */
  readonly cli?: RunnerCli | undefined;
  /** The CLI's home for each role: an implementer and a reviewer that share one could read each other. */
  readonly cliHomes?: { readonly implement?: string; readonly review?: string } | undefined;
  /** `{ permissionSource: 'agent-policy', permissionMode: <the adapter's first> }` when absent. */
  readonly policy?: WorkerPolicy | undefined;
  /** How many jobs run at once; 1 when absent. */
  readonly concurrency?: number | undefined;
  /** How long a job may take when it does not say, in milliseconds; 30 min when absent. */
  readonly timeoutMs?: number | undefined;
  /** How long a turn may be without a sign of life, in milliseconds; 10 min when absent. */
  readonly inactivityMs?: number | undefined;
  /** Digests that admission compares with what stands here; without them the installed ones are taken. */
  readonly expected?:
    | { readonly capabilityDigest?: Sha256; readonly binaryDigest?: Sha256 }
    | undefined;
  /**
   * For whom the runner works: one person's machine, or others. `production` needs a `qualification` of all dimensions for the
   * very contract that stands here; every job of any other runner is `runner_unfit`. `local` when absent.
   */
  readonly use?: AdapterUse | undefined;
  /** How far the adapter was looked at; one that is given is checked for local use too. */
  readonly qualification?: AdapterQualification | undefined;
}

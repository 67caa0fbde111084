import type { JsonValue } from '../../persistence/store.js';
import type { CodingOutcome, Sha256 } from '../coding-job.js';
import type { CodingTurnSpec } from '../contract/coding-turn-spec.wire.js';
import type { TrustedBinding } from '../contract/thread-binding.js';

/** A secret by the name of a variable of the runner's own environment, never by its value. */
export interface SecretReference {
  readonly env: string;
}

/** The CLI of a job, with no secret in it. */
export interface WorkerCli {
  /** Absolute path; found on PATH when absent. */
  readonly binary?: string | undefined;
  /** The CLI's own home for the role of the job. */
  readonly cliHome?: string | undefined;
  readonly endpoint?:
    | { readonly baseUrl: string; readonly apiKey?: SecretReference | undefined }
    | undefined;
  readonly env?: Readonly<Record<string, string | SecretReference>> | undefined;
}

/**
 * Everything that one try of one job needs, immutable and whole: admission made it, its digest goes with it, and a worker
 * reads nothing else but the variables that it names. It stands on disk, and holds no key.
 */
export interface CodingWorkerSpec {
  readonly schemaVersion: 1;
  /** The job as it was admitted, with all that no caller names; `thread.operationId` is set where there is a directive. */
  readonly turn: CodingTurnSpec;
  readonly operationId: string;
  readonly trusted: TrustedBinding;
  /** Such as `codex-app-server-v1`. */
  readonly adapterId: string;
  readonly cli: WorkerCli;
  /** Absolute paths of the homes of other roles and runners: conversations that nothing of this job may read. */
  readonly otherHomes: readonly string[];
  readonly repositoryUriPrefix: string;
  /** The builder's data directory: the records of threads stand there. */
  readonly dataDir: string;
  /** Below it stands one folder a thread: the rebuilt repository, the scratch folder, the session's own state. */
  readonly workspacesDir: string;
  /** Absolute path of git. */
  readonly git: string;
  /** Absolute path of bubblewrap; absent where there is none. */
  readonly bubblewrap?: string | undefined;
  /** Milliseconds without a sign of the CLI until a turn is given up. */
  readonly inactivityMs: number;
}

/** Who decides what the CLI may do, and which models it may be asked for. */
export interface WorkerPolicy {
  readonly permissionSource: string;
  readonly permissionMode: string;
  readonly allowedModels?: readonly string[] | undefined;
  readonly defaultModel?: string | undefined;
}

/** What a worker tells while it works. Advisory: only the end of its work counts. */
export type WorkerProgress =
  | { readonly type: 'step'; readonly step: CodingStep }
  | { readonly type: 'usage'; readonly usage: JsonValue }
  /** The CLI gave a sign of life; no text of anybody. */
  | { readonly type: 'alive' };

/** The steps of one try, in their order; each is a point at which a crash was injected. */
export type CodingStep =
  | 'validate_spec'
  | 'open_thread'
  | 'check_bundle'
  | 'stage_bundle'
  | 'rebuild_workspace'
  | 'prepare_native'
  | 'claim'
  | 'start_native'
  | 'run_turn'
  | 'validate_result'
  | 'report_patch'
  | 'commit'
  | 'close_after_turn'
  | 'end_native';

/** How a worker ended: its outcome, its typed error as JSON, or what could not be told. */
export type WorkerEnd =
  | { readonly class: 'success'; readonly outcome: CodingOutcome }
  | { readonly class: 'failed'; readonly error: WorkerError }
  | {
      readonly class: 'cancelled';
      readonly reason: string;
      /** What was committed before the cancel came: evidence of the checkpoint, not an accepted result. */
      readonly outcome?: CodingOutcome | undefined;
    }
  /** Nothing proves what became of it: it is never run again by itself. */
  | {
      readonly class: 'unknown';
      readonly reason: string;
      /** What the thread's record says of the operation. */
      readonly evidence?: JsonValue | undefined;
    };

/** A typed error on its way out of a worker. */
export interface WorkerError {
  readonly kind: string;
  /** The error's family: `CodingThreadError`, or one of an agent's. */
  readonly family: 'coding_thread' | 'agent' | 'defect';
  readonly message: string;
  readonly retry: 'same' | 'inspect' | 'replace' | 'never';
  /** The whole error, as its own family writes it. */
  readonly json: JsonValue;
}

/** Says that a spec is the one that was admitted. */
export interface SpecDigest {
  readonly specDigest: Sha256;
}

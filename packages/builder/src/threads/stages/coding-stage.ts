import type {
  CodingPatch,
  CodingRole,
  RepositoryBundle,
  ReviewResult,
  Sha256,
  ThreadReceipt,
} from '../coding-job.js';
import type { FindingLedger } from '../contract/finding-ledger.js';
import type { ThreadOwner } from '../contract/thread-scope.js';

/** One stage: an implementer and a reviewer that each keep a conversation of their own until the stage is accepted. */
export interface CodingStage {
  /** 1 to 128 of letters, digits, `-`, `_` and `.`. */
  readonly stageId: string;
  readonly repository: RepositoryBundle;
  readonly baseRevision: string;
  /** `owner/name`, as findings name it. */
  readonly repositoryName: string;
  /** Such as `/workspace/repo`. */
  readonly workspaceRoot: string;
  readonly writableRoots?: readonly string[] | undefined;
  /** What the implementer is told first. */
  readonly prompt: string;
  /** What the reviewer judges by. */
  readonly requirements: string;
  readonly implementer: StageAgent;
  readonly reviewer: StageAgent;
  /** Looks at the accepted change without earlier assumptions, in a conversation of its own; none when absent. */
  readonly finalReviewer?: StageAgent | undefined;
  /** How often findings go back until the stage is failed; 3 when absent. */
  readonly maxRemediations?: number | undefined;
  /** How often a thread that is left uncertain is replaced; 2 when absent. */
  readonly maxReplacements?: number | undefined;
  readonly maximumPatchBytes?: number | undefined;
  readonly maximumChangedFiles?: number | undefined;
  readonly timeoutMs?: number | undefined;
}

/** Which runner serves a role. */
export interface StageAgent {
  readonly runnerId: string;
  readonly nativeModel?: string | undefined;
}

/** Which stage, and whose. The same key again goes on with the same one. */
export interface RunStage {
  readonly key: string;
  readonly stage: CodingStage;
  readonly owner: ThreadOwner;
  /** Aborting it cancels the job that runs. The same key goes on from there. */
  readonly signal?: AbortSignal | undefined;
  /** Aborting it waits no longer, and leaves the job that runs at its work. */
  readonly letGo?: AbortSignal | undefined;
}

/** What became of a conversation of a stage. */
export interface StageThreadEnd {
  readonly role: CodingRole;
  readonly sessionRef: string;
  /** `READY`: its close is not proven, and it can still be closed. */
  readonly state: 'CLOSED' | 'READY' | 'ABANDONED';
  /** The last that is proven of it; none where its first turn was lost. */
  readonly receipt?: ThreadReceipt | undefined;
  readonly closeError?: string | undefined;
}

/** What a stage came to. */
export interface StageOutcome {
  readonly stageId: string;
  readonly outcome: 'accepted' | 'no-change';
  /** What may be published: exactly what was approved. */
  readonly patch: CodingPatch;
  readonly patchDigest: Sha256;
  readonly review?: ReviewResult | undefined;
  readonly ledger: FindingLedger;
  readonly remediations: number;
  readonly replacements: number;
  /** Every conversation it had, with those that were replaced. */
  readonly threads: readonly StageThreadEnd[];
}

/** The stages of a builder. */
export interface CodingStages {
  /** Runs a stage to its end, or goes on with one that was begun. */
  readonly run: (request: RunStage) => Promise<StageOutcome>;
}

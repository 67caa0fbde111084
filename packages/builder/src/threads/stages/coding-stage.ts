import type { CodingPatch, RepositoryBundle, ReviewResult, Sha256 } from '../coding-job.js';
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
  readonly signal?: AbortSignal | undefined;
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
}

/** The stages of a builder. */
export interface CodingStages {
  /** Runs a stage to its end, or goes on with one that was begun. */
  readonly run: (request: RunStage) => Promise<StageOutcome>;
}

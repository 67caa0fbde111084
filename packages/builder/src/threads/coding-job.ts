import type { JsonValue } from '../persistence/store.js';

/** A digest as it stands on the wire: `sha256:` and 64 lower-case hex digits. */
export type Sha256 = `sha256:${string}`;

/** What a conversation is for. Each role has a native thread of its own. */
export type CodingRole = 'implement' | 'review';

/** A staged repository: a git bundle, found by its digest. */
export interface RepositoryBundle {
  /** A `file:` URI without host, query or fragment, below the prefix that the service allows. */
  readonly artifactUri: string;
  readonly digest: Sha256;
  /** Bytes. */
  readonly size: number;
  readonly mediaType: 'application/x-git-bundle';
}

/** Where a job's conversation begins, goes on or ends. */
export interface ThreadDirective {
  readonly runnerId: string;
  /** A UUID that the workflow made and stored before it dispatched anything. */
  readonly sessionRef: string;
  readonly stageId: string;
  readonly mode: 'new' | 'resume' | 'close';
  /** The checkpoint of the last receipt: required for `resume` and `close`, forbidden for `new`. */
  readonly expectedCheckpoint?: string | undefined;
  /** Tries to close after the turn; false when absent. It never costs the turn's result. */
  readonly closeAfterTurn?: boolean | undefined;
  /** Ours: the same for every try of one logical job. A committed outcome is replayed for it. */
  readonly operationId?: string | undefined;
}

/** What a reviewer is given. The candidate is applied to the base, and must stay as it is. */
export interface ReviewInput {
  readonly reviewId: string;
  /** `owner/name`. */
  readonly repository: string;
  readonly requirements: string;
  readonly requirementsDigest: Sha256;
  readonly candidatePatch: string;
  readonly implementation: ImplementationArtifact;
  readonly priorReview?: ReviewResult | undefined;
}

/** What an implementer is to mend. */
export interface Remediation {
  readonly priorReview: ReviewResult;
}

/** The `coding` object of a job, as a caller gives it. A key that is not named here is refused. */
export interface CodingRequest {
  readonly repository: RepositoryBundle;
  /** 40 or 64 hex digits. */
  readonly baseRevision: string;
  readonly workspaceRoot: string;
  readonly writableRoots?: readonly string[] | undefined;
  readonly allowedTools: readonly string[];
  readonly maximumPatchBytes: number;
  readonly maximumChangedFiles: number;
  /** `implement` when absent. */
  readonly role?: CodingRole | undefined;
  readonly reviewInput?: ReviewInput | undefined;
  readonly remediation?: Remediation | undefined;
  readonly nativeModel?: string | undefined;
  /** Absent: one job, one ephemeral conversation. */
  readonly thread?: ThreadDirective | undefined;
}

/** A coding job's input: what a workflow's job and a direct request both carry. */
export interface CodingJobInput {
  readonly profile: 'coding';
  /** At most 64 KiB. */
  readonly text: string;
  readonly clientMessageId?: string | undefined;
  readonly coding: CodingRequest;
}

/** What is proven of a thread after a job. `state` is the conversation's, never the clean-up's. */
export interface ThreadReceipt {
  readonly sessionRef: string;
  /** A UUID; the next operation must present it. */
  readonly checkpoint: string;
  readonly state: 'READY' | 'CLOSED';
  /** Why a close that was only tried did not happen. */
  readonly closeError?: string | undefined;
}

/** Evidence of one command that was run. */
export interface ValidationEvidence {
  readonly command: readonly string[];
  readonly status: 'passed' | 'failed' | 'not-run';
  readonly exitCode: number | null;
  readonly artifactDigest?: Sha256 | undefined;
}

/** What an implementer produced. */
export interface ImplementationArtifact {
  readonly schemaVersion: 1;
  readonly adapterContractDigest: Sha256;
  readonly repositoryDigest: Sha256;
  readonly baseRevision: string;
  readonly patchDigest: Sha256;
  readonly changedPaths: readonly string[];
  readonly validationEvidence: readonly ValidationEvidence[];
  readonly resolvedFindingIds: readonly string[];
}

/** One thing a reviewer wants changed. */
export interface Finding {
  readonly findingId: string;
  readonly severity: 'low' | 'medium' | 'high' | 'critical';
  readonly repository: string;
  readonly location: string;
  readonly summary: string;
  readonly evidence: string;
  readonly requiredResolution: string;
}

/** What a reviewer decided of one patch, by its digest. `approved` has no findings, and only then. */
export interface ReviewResult {
  readonly schemaVersion: 1;
  readonly reviewId: string;
  readonly artifactDigest: Sha256;
  readonly verdict: 'approved' | 'changes-required';
  readonly findings: readonly Finding[];
  readonly validationGaps: readonly string[];
}

/** A canonical, cumulative patch against the base. */
export interface CodingPatch {
  readonly baseRevision: string;
  /** Empty in the outcome `no-change`. */
  readonly patch: string;
  readonly patchDigest: Sha256;
  readonly changedPaths: readonly string[];
}

/** Tokens as the CLI told them: advisory, never a bill. */
export interface AdvisoryUsage {
  readonly inputTokens: number;
  readonly cachedInputTokens: number;
  readonly outputTokens: number;
  readonly authoritative: false;
}

/** The one envelope of every role. */
export interface CodingOutcome {
  readonly outcome: 'implemented' | 'no-change' | 'reviewed' | 'closed';
  readonly operationId: string;
  /** Absent for a job without a directive. */
  readonly thread?: ThreadReceipt | undefined;
  readonly patch?: CodingPatch | undefined;
  readonly artifact?: ImplementationArtifact | undefined;
  readonly review?: ReviewResult | undefined;
  readonly finalMessage?: string | undefined;
  readonly usage?: AdvisoryUsage | undefined;
  /** For people alone: the native id is no credential. */
  readonly evidence: { readonly [key: string]: JsonValue | undefined };
}

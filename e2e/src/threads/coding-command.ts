import type { HandleJson } from '@holdfast/provider-core/certification';

/** What a service with coding runners is started with. */
export interface CodingServiceOptions {
  readonly dataDir: string;
  /** `CodingOptions` of the builder, as JSON. */
  readonly coding: HandleJson;
}

/** One job that a service is to run to its end. */
export interface CodingCommand {
  readonly jobId: string;
  readonly input: HandleJson;
  readonly owner: { readonly kind: 'workflow'; readonly processId: string };
}

/** What a service tells: that it serves, or how a job ended. */
export type CodingLine =
  | { readonly type: 'ready' }
  | { readonly type: 'ended'; readonly jobId: string; readonly outcome: CodingEnd }
  | { readonly type: 'failed'; readonly jobId: string; readonly error: string };

/** The parts of a job's outcome that are looked at here. */
export interface CodingEnd {
  readonly outcome: 'implemented' | 'no-change' | 'reviewed' | 'closed';
  readonly thread?: { readonly checkpoint: string; readonly state: string };
  readonly patch?: {
    readonly patch: string;
    readonly patchDigest: string;
    readonly changedPaths: readonly string[];
  };
  readonly artifact?: HandleJson;
  readonly review?: ReviewOfAgent;
  readonly finalMessage?: string;
  readonly usage?: { readonly inputTokens: number; readonly cachedInputTokens: number };
  readonly evidence: HandleJson;
}

/** A review, as far as it is looked at here. */
export interface ReviewOfAgent {
  readonly verdict: 'approved' | 'changes-required';
  readonly artifactDigest: string;
  readonly findings: readonly { readonly findingId: string }[];
  readonly validationGaps: readonly string[];
}

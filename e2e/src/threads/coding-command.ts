import type { HandleJson } from '@holdfast/provider-core/certification';

/** What a service with coding runners is started with. */
export interface CodingServiceOptions {
  readonly dataDir: string;
  /** `CodingOptions` of the builder, as JSON. */
  readonly coding: HandleJson;
}

/** On whose behalf threads are kept. */
export interface CodingOwner {
  readonly kind: 'workflow';
  readonly processId: string;
}

/** What a service can be asked for. */
export type CodingCall =
  | {
      readonly call: 'run';
      readonly jobId: string;
      readonly input: HandleJson;
      readonly owner: CodingOwner;
    }
  | { readonly call: 'find'; readonly jobId: string }
  | { readonly call: 'inspect'; readonly sessionRef: string; readonly owner: CodingOwner }
  | {
      readonly call: 'adopt' | 'abandon' | 'rollback';
      readonly sessionRef: string;
      readonly owner: CodingOwner;
      readonly reason: string;
      readonly operationId?: string;
    }
  | {
      readonly call: 'stage';
      readonly key: string;
      readonly stage: HandleJson;
      readonly owner: CodingOwner;
    };

/** A call with the id that its answer has. */
export type CodingCommand = CodingCall & { readonly id: string };

/** What a service tells: that it serves, or what came of a command. */
export type CodingLine =
  | { readonly type: 'ready' }
  | { readonly type: 'done'; readonly id: string; readonly value: unknown }
  | { readonly type: 'failed'; readonly id: string; readonly kind: string; readonly error: string };

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

import type { CodingOutcome, Sha256 } from '../coding-job.js';
import type { ThreadOwner } from '../contract/thread-scope.js';
import type { ThreadView } from '../store/thread-view.js';

/** A thread of a stage; its scope follows from its owner and its runner's policy. */
export interface StageThreadPlace {
  readonly owner: ThreadOwner;
  readonly runnerId: string;
  readonly sessionRef: string;
}

/** A decision of the stage about a thread of its own, with the reason that is kept. */
export interface StageThreadDecision extends StageThreadPlace {
  readonly reason: string;
}

/** What a stage may look at, and decide, of the threads it began. Refusals are `CodingThreadError`s. */
export interface StageThreads {
  /** The scope of an owner's threads as the service is configured now. */
  readonly scopeOf: (owner: ThreadOwner) => Sha256;
  /** `undefined` where nothing was ever claimed. */
  readonly inspect: (place: StageThreadPlace) => Promise<ThreadView | undefined>;
  readonly adopt: (
    decision: StageThreadDecision & { readonly operationId: string },
  ) => Promise<CodingOutcome>;
  readonly abandon: (decision: StageThreadDecision) => Promise<void>;
  /** Refused unless the provider's own record proves that the turn was not taken in. */
  readonly rollback: (decision: StageThreadDecision) => Promise<void>;
}

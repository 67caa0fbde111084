import type { CodingRequest } from '../coding-job.js';
import { CodingThreadError } from '../coding-thread-error.js';
import type { CodingPolicy } from '../contract/coding-policy.wire.js';
import type { AdapterState } from './adapter-state.wire.js';

/** Which model is asked for, and what decides it. */
export interface ModelChoice {
  readonly coding: Pick<CodingRequest, 'nativeModel' | 'thread'>;
  readonly policy: Pick<CodingPolicy, 'defaultModel'>;
  /** What the thread's earlier turns ran with; absent at its first. */
  readonly kept: AdapterState | undefined;
}

/** The model of the first turn is the thread's: a default that changed means nothing to it, another explicit one is refused. */
export function selectModel({ coding, policy, kept }: ModelChoice): string | undefined {
  const { nativeModel, thread } = coding;
  if (!kept) return nativeModel ?? policy.defaultModel;
  if (nativeModel === undefined || nativeModel === kept.model) return kept.model;
  throw new CodingThreadError(
    'thread_binding_changed',
    'This thread is bound to another nativeModel; use a new session.',
    { sessionRef: thread?.sessionRef, differingFields: ['nativeModel'] },
  );
}

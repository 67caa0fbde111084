import { randomUUID } from 'node:crypto';
import type { BuilderContext } from '../builder-context.js';
import { type LearningLock, takeLearningLock } from './learning-lock.js';
import { SERVICE_PREFIX } from './learning-ticket.js';

/** How a service takes the learning lock for work of its own. */
export interface LearningLockOptions {
  /** `default` when absent, which is that of every workflow that names none. */
  readonly name?: string | undefined;
  /** Ends the wait; what runs is not cut off. */
  readonly signal?: AbortSignal | undefined;
}

/** The lock of a workflow that names none. */
export const DEFAULT_LOCK = 'default';

/** Runs a service's own work on the shared files while no learning turn runs, in turn with those that wait. */
export async function withLearningLock<Value>(
  { store, closing }: Pick<BuilderContext, 'store' | 'closing'>,
  work: (lock: Pick<LearningLock, 'isCurrent'>) => Promise<Value>,
  { name = DEFAULT_LOCK, signal }: LearningLockOptions = {},
): Promise<Value> {
  await using lock = await takeLearningLock(store, {
    name,
    executionId: `${SERVICE_PREFIX}${randomUUID()}`,
    signal: signal ? AbortSignal.any([signal, closing]) : closing,
  });
  return await work(lock);
}

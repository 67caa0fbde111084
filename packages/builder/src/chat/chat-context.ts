import type { Clock } from '@holdfast/agent';
import type { BuilderContext } from '../builder-context.js';

/** What the chats of one builder share. */
export interface ChatContext
  extends Pick<BuilderContext, 'store' | 'agents' | 'logger' | 'checkOpen'> {
  /** Aborts when the builder closes: who follows a chat's events then comes to the end of them. */
  readonly closing?: AbortSignal | undefined;
  /** Times what is kept of terminals; real time when absent. */
  readonly clock?: Clock | undefined;
  /** Finds what waits for a chat after any crash; without one, it is found when a builder is made. */
  readonly engine?: Pick<BuilderContext['engine'], 'enqueue'> | undefined;
}

import type { BuilderContext } from '../builder-context.js';

/** What the chats of one builder share. */
export interface ChatContext
  extends Pick<BuilderContext, 'store' | 'agents' | 'logger' | 'checkOpen'> {
  /** Finds what waits for a chat after any crash; without one, it is found when a builder is made. */
  readonly engine?: Pick<BuilderContext['engine'], 'enqueue'> | undefined;
}

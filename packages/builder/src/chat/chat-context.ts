import type { BuilderContext } from '../builder-context.js';

/** What the chats of one builder share. */
export type ChatContext = Pick<BuilderContext, 'layout' | 'agents' | 'logger' | 'checkOpen'>;

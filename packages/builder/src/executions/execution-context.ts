import { type Clock, systemClock } from '@holdfast/agent';
import type { BuilderContext } from '../builder-context.js';
import { createExecutionNotices, type ExecutionNotices } from './execution-notices.js';

/** The queue in which executions are driven. Without a bound: a step waits in it for its own children. */
export const EXECUTIONS_QUEUE = 'executions';

/** What everything about executions shares in one builder. */
export interface ExecutionContext
  extends Pick<
    BuilderContext,
    'store' | 'engine' | 'agents' | 'workflows' | 'logger' | 'closing' | 'checkOpen'
  > {
  readonly clock: Clock;
  readonly notices: ExecutionNotices;
}

/** What {@link createExecutionContext} is given. */
export type ExecutionContextOptions = Omit<ExecutionContext, 'clock' | 'notices'> & {
  readonly clock?: Clock | undefined;
};

/** What the executions of one builder share. Once for each builder. */
export function createExecutionContext({
  store,
  engine,
  agents,
  workflows,
  logger,
  closing,
  checkOpen,
  clock = systemClock,
}: ExecutionContextOptions): ExecutionContext {
  const notices = createExecutionNotices();
  return { store, engine, agents, workflows, logger, closing, checkOpen, clock, notices };
}

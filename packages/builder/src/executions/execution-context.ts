import { type Clock, systemClock } from '@holdfast/agent';
import type { BuilderContext } from '../builder-context.js';
import type { CodingJobs } from '../threads/scheduling/coding-jobs.js';
import type { CodingStages } from '../threads/stages/coding-stage.js';
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
  /** Where coding steps do their work; absent where the builder was given no runners. */
  readonly coding?: StepCoding | undefined;
}

/** What a coding step needs of the builder's coding threads. */
export interface StepCoding extends Pick<CodingJobs, 'submit' | 'find'> {
  readonly runStage: CodingStages['run'];
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
  coding,
  clock = systemClock,
}: ExecutionContextOptions): ExecutionContext {
  const notices = createExecutionNotices();
  return { store, engine, agents, workflows, logger, closing, checkOpen, coding, clock, notices };
}

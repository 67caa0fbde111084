import type { Clock, Logger } from '@holdfast/agent';
import type { JobEngine } from '../../engine/job-engine.js';
import type { JobOrders } from '../../engine/job-record.js';
import type { Store } from '../../persistence/store.js';
import type { CodingOptions } from '../coding-options.js';
import type { CodingWorkers } from '../execution/coding-workers.js';
import type { ThreadStore } from '../store/thread-store.js';
import type { CodingRunner } from './coding-runner.js';

/** What every part of the scheduling of coding jobs shares. */
export interface CodingDesk {
  readonly store: Store;
  readonly engine: JobEngine;
  readonly workers: CodingWorkers;
  readonly threads: ThreadStore;
  readonly options: CodingOptions;
  readonly runners: ReadonlyMap<string, CodingRunner>;
  /** Absolute. */
  readonly dataDir: string;
  readonly workspacesDir: string;
  readonly clock: Clock;
  readonly orders: JobOrders;
  readonly logger?: Logger | undefined;
  /** Aborts when the builder closes: whoever waits for an end is told so. */
  readonly closing?: AbortSignal | undefined;
}

/** The queue in which the deadlines of waiting jobs are kept. */
export const DEADLINES_QUEUE = 'coding-deadlines';

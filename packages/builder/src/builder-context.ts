import type { Logger } from '@holdfast/agent';
import type { AgentRegistry } from './agents.js';
import type { JobEngine } from './engine/job-engine.js';
import type { Store } from './persistence/store.js';
import type { WorkflowDefinition } from './workflow/workflow-definition.js';

/** What every part of one builder shares. */
export interface BuilderContext {
  readonly store: Store;
  readonly engine: JobEngine;
  readonly agents: AgentRegistry;
  readonly workflows: ReadonlyMap<string, WorkflowDefinition>;
  readonly logger?: Logger | undefined;
  /** Aborts when the builder closes. */
  readonly closing: AbortSignal;
  /** Throws a TypeError once the builder was closed. */
  readonly checkOpen: () => void;
}

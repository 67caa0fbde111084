import type { Logger } from '@holdfast/agent';
import type { AgentRegistry } from './agents.js';
import type { BuilderLayout } from './persistence/layout.js';

/** What every part of one builder shares. */
export interface BuilderContext {
  readonly layout: BuilderLayout;
  readonly agents: AgentRegistry;
  readonly logger?: Logger | undefined;
  /** Throws a TypeError once the builder was closed. */
  readonly checkOpen: () => void;
}

import type { ApprovalHandler, Logger } from '@holdfast/agent';
import type { AgentSource } from './agents.js';
import type { JobEngine } from './engine/job-engine.js';
import type { NotificationHandler } from './notifications/notification.js';
import type { Store } from './persistence/store.js';
import type { CodingOptions } from './threads/coding-options.js';
import type { WorkflowDefinition } from './workflow/workflow-definition.js';

/** What a builder is made of. */
export interface BuilderOptions {
  /** Everything durable stands below it; made when it is not there. */
  readonly dataDir: string;
  /** The agents that stored work may name, by id. */
  readonly agents: Readonly<Record<string, AgentSource>>;
  /** The workflows that stored work may name, each by its own id. */
  readonly workflows?: readonly WorkflowDefinition[] | undefined;
  /** The ids of agents that sessions may call as sub-agents; none when absent, and then no session gets the tools. */
  readonly subAgents?: readonly string[] | undefined;
  /** Told of every notification, at least once with its dedupe key, beside the session it is for. */
  readonly onNotification?: NotificationHandler | undefined;
  /** Answers the approvals and questions of every agent that has no handler of its own. */
  readonly onApproval?: ApprovalHandler | undefined;
  /** Waits for the turn that runs in a notification's session, when absent, or puts the text into it. */
  readonly notifyBusySessions?: 'wait' | 'steer' | undefined;
  /** Runs coding jobs, in worker processes of their own; none can be submitted when absent. */
  readonly coding?: CodingOptions | undefined;
  /** Our own over `store` when absent. Whoever hands one in stops it. */
  readonly engine?: JobEngine | undefined;
  /** Plain files in `dataDir` when absent. Whoever hands one in disposes of it. */
  readonly store?: Store | undefined;
  readonly logger?: Logger | undefined;
}

/** Throws a TypeError that names the option that cannot be used. */
export function checkBuilderOptions({
  dataDir,
  agents,
  workflows = [],
  subAgents = [],
  coding,
  store,
}: BuilderOptions): void {
  if (typeof dataDir !== 'string' || dataDir.trim() === '') {
    throw new TypeError('dataDir must be a path.');
  }
  if (typeof agents !== 'object' || agents === null) {
    throw new TypeError('agents must be a record from id to agent options.');
  }
  if (coding && store) {
    throw new TypeError(
      'coding needs the files in dataDir, which its workers open: give no store.',
    );
  }
  const ids = workflows.map(({ id }) => id);
  const twice = ids.find((id, index) => ids.indexOf(id) !== index);
  if (twice !== undefined) throw new TypeError(`Two workflows have the id ${twice}.`);
  const unknown = subAgents.find((id) => !Object.hasOwn(agents, id));
  if (unknown !== undefined) {
    throw new TypeError(`subAgents names ${unknown}, which is none of the agents.`);
  }
}

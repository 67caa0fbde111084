import type { HandleJson } from '@holdfast/provider-core/certification';

/** What a service with a builder is told, as one line of JSON on its standard input. */
export interface WorkflowCommand {
  readonly dataDir: string;
  /** The options of each agent, by id. */
  readonly agents: Readonly<Record<string, HandleJson>>;
  /** The ids that sessions may call as sub-agents. */
  readonly subAgents?: readonly string[];
  /** The file that learning and review add a line to. */
  readonly sharedFile: string;
  /** Where each notification is added as a line, as its handler is told. */
  readonly notificationFile: string;
  /** The chat that is told of the run's steps; opened when it is not there. */
  readonly desk: { readonly chatId: string; readonly agent: string };
  /** Begins this run; without it the service only goes on with what is owed. */
  readonly start?: {
    readonly iteration: string;
    readonly codeword: string;
    readonly agent: string;
  };
  /** Runs the workflow with every phase in place of the short one. */
  readonly everyPhase?: EveryPhase;
  /** Holds the learning lock until a line comes in. */
  readonly holdLock?: boolean;
}

/** What the workflow with every phase says; the messages script their own answers. */
export interface EveryPhase {
  readonly prompt: string;
  /** Sent to the same session until its answer says that it is checked. */
  readonly feedback: string;
  /** The agent of the second step, whose phases after the main one have sessions of their own. */
  readonly writer: string;
}

/** What a service tells, as lines of JSON. */
export type WorkflowLine =
  | { readonly type: 'ready'; readonly recovery: unknown }
  | { readonly type: 'lock_queued' }
  | { readonly type: 'lock_held' }
  | { readonly type: 'event'; readonly event: Readonly<Record<string, unknown>> }
  | { readonly type: 'ended'; readonly outcome: string; readonly states: readonly unknown[] }
  | { readonly type: 'closed'; readonly learningLock: unknown }
  | { readonly type: 'error'; readonly error: string };

/** The workflow of the demo: one step. */
export const POST_STEP_WORKFLOW = 'post-step';

/** The workflow of the fault runs: every phase that an execution has. */
export const EVERY_PHASE_WORKFLOW = 'every-phase';

import type { AgentOptions } from '@holdfast/agent';
import { createAgentRegistry } from './agents.js';
import type { BuilderContext } from './builder-context.js';
import { type BuilderOptions, checkBuilderOptions } from './builder-options.js';
import type { ChatEvent } from './chat/chat-event.js';
import type { ChatEventsOptions } from './chat/chat-log.js';
import { type Chats, createChats } from './chat/chats.js';
import { CHATS_QUEUE, drainChatInbox } from './chat/drain-inbox.js';
import { type RecoveredChat, recoverChats } from './chat/recover-chats.js';
import { sendToChat } from './chat/send-to-chat.js';
import { createJobEngine } from './engine/file-job-engine.js';
import type { EngineReport } from './engine/job-engine.js';
import { createExecutions } from './executions/create-executions.js';
import { createSessionTurns } from './executions/create-session-turns.js';
import { createExecutionHandler } from './executions/drive-execution.js';
import { createExecutionContext, EXECUTIONS_QUEUE } from './executions/execution-context.js';
import type { Executions } from './executions/executions.js';
import {
  createNotificationJob,
  createNotifications,
  NOTIFICATION_QUEUE,
  type Notifications,
} from './notifications/notifications.js';
import { createOutbox } from './notifications/outbox.js';
import { prepareStore } from './persistence/data-format.js';
import { createFileStore } from './persistence/file-store.js';
import type { Store } from './persistence/store.js';
import { createSubAgentBridge } from './sub-agents/sub-agent-bridge.js';
import { createReaper } from './terminals/reaper.js';
import { createTerminalOwners } from './terminals/terminal-owners.js';
import { createTerminals, type Terminals } from './terminals/terminals.js';
import type { CodingThreads } from './threads/coding-threads.js';
import { createCodingThreads, refuseCodingThreads } from './threads/create-coding-threads.js';
import type { CodingRecovery } from './threads/scheduling/recover-jobs.js';
import { createRunHandler } from './workflow/drive-run.js';
import { recoverExecutions } from './workflow/recover-executions.js';
import type { ExecutionRecovery } from './workflow/recovery-report.js';
import { type WalkReport, walkBeside, walkOnce, walkRuns } from './workflow/walk-runs.js';
import { createWorkflows, RUNS_QUEUE, type Workflows } from './workflow/workflows.js';

/** Chats and workflows on disk, gone on with after any crash. Several builders may share one data directory. */
export interface Builder extends AsyncDisposable {
  readonly chats: Chats;
  readonly workflows: Workflows;
  /** Workflow steps, sub-steps, sub-agents and background agents, each by its execution id. */
  readonly executions: Executions;
  /** The durable outbox: what is still to be told, and what was given up. */
  readonly notifications: Notifications;
  /** Coding jobs, threads and stages. Without `coding` in the options each call is refused with a TypeError. */
  readonly threads: CodingThreads;
  /** The terminals of each chat, current and previous. Observations only. */
  readonly terminals: Terminals;
  /** The log of one chat from a sequence number on; with `follow`, further events as they come. */
  readonly events: (chatId: string, options?: ChatEventsOptions) => AsyncIterable<ChatEvent>;
  /** What was found open when this builder was made, and what became of it. */
  readonly recovery: RecoveryReport;
  /** Looks through every run for work that is owed and has no job, e.g. after files were restored, and queues it. */
  readonly repair: () => Promise<WalkReport>;
  /** Takes no further work. Turns that run go on to their end, and sessions stay alive. */
  readonly close: () => Promise<void>;
}

/** What a builder found open when it was made. Nothing is left out of it. */
export interface RecoveryReport {
  /** Chat turns that were settled, or left and why. */
  readonly chats: readonly RecoveredChat[];
  /** Executions whose phase was queued again, or left and why. */
  readonly executions: ExecutionRecovery;
  /** What a full walk found, on the first start in a data directory; later ones read the open jobs alone. */
  readonly walk?: WalkReport | undefined;
  /** Coding jobs that were found open, where the builder runs such; those of other runners too. */
  readonly coding?: CodingRecovery | undefined;
  /** Every open job: runs, executions and inboxes that this builder goes on with, and those it left alone. */
  readonly jobs: EngineReport;
}

/**
 * Makes a builder. Before it resolves, every chat turn that a crash left open was settled with its own turn id, and every phase
 * and notification that is owed was queued; what could not be is reported in `recovery` with its state kept.
 */
export async function createBuilder(options: BuilderOptions): Promise<Builder> {
  checkBuilderOptions(options);
  const store = options.store ?? createFileStore(options);
  await prepareStore(store);
  const parts = composeBuilder(options, store);
  const { context, outbox, bridge, executions, closing, coding } = parts;
  const reaper = createReaper({
    ...context,
    owners: createTerminalOwners(context),
  });
  const close = async () => {
    // Before anything that waits is told: then what it was in the middle of is no failure.
    const stopped = options.engine ? undefined : context.engine.stop();
    closing.abort();
    await reaper[Symbol.asyncDispose]();
    await stopped;
    await bridge.close();
  };
  const recovery = await recover(parts).catch(async (error: unknown) => {
    // Nobody gets a builder to close: what serves already must not outlive this call.
    await close();
    throw error;
  });
  const chats = createChats(context);
  tidyBeside(parts, recovery.walk === undefined);
  reaper.start();
  return {
    chats,
    executions,
    recovery,
    close,
    workflows: createWorkflows(context, executions),
    notifications: createNotifications(outbox, context),
    threads: coding?.threads ?? refuseCodingThreads(),
    terminals: createTerminals(context),
    events: async function* (chatId, eventsOptions) {
      yield* (await chats.get(chatId)).events(eventsOptions);
    },
    repair: async () => {
      context.checkOpen();
      return await walkRuns(context, { signal: closing.signal });
    },
    [Symbol.asyncDispose]: close,
  };
}

/** Begins the work of a builder, with what others left. */
async function recover({ context, bridge, coding }: BuilderParts) {
  await bridge.start();
  const walk = await walkOnce(context);
  return {
    walk,
    ...(await recoverChats(context)),
    executions: await recoverExecutions(context),
    coding: await coding?.recover(),
    jobs: await context.engine.start(),
  };
}

type BuilderParts = ReturnType<typeof composeBuilder>;

/** Every part of a builder, each with what it needs of the others; nothing runs yet. */
function composeBuilder(options: BuilderOptions, store: Store) {
  const { logger, onNotification, notifyBusySessions: whenBusy, subAgents: agents = [] } = options;
  const closing = new AbortController();
  const engine = options.engine ?? createJobEngine(store, { logger });
  const bridge = createSubAgentBridge({ store, logger, agents, executions: () => executions });
  const context: BuilderContext = {
    store,
    engine,
    logger,
    agents: createAgentRegistry(options.agents, (agent, agentContext) =>
      bridge.equip(withApprovals(agent, options), agentContext),
    ),
    workflows: new Map(options.workflows?.map((one) => [one.id, one])),
    closing: closing.signal,
    checkOpen: () => {
      if (closing.signal.aborted) throw new TypeError('This builder was closed; make another one.');
    },
  };
  const coding =
    options.coding &&
    createCodingThreads({
      ...context,
      ...{ dataDir: options.dataDir, options: options.coding },
    });
  const executionContext = createExecutionContext({ ...context, coding: coding?.threads });
  const sessions = createSessionTurns(executionContext, (chatId, message) =>
    sendToChat(context, chatId, message),
  );
  const outbox = createOutbox({ store, sessions, onNotification, policy: { whenBusy }, logger });
  const executions = createExecutions(executionContext);
  // Each phase bounds its own attempts: a service that is killed often must not park what is owed.
  const bounds = { maxAttempts: Number.POSITIVE_INFINITY };
  engine.handle(EXECUTIONS_QUEUE, createExecutionHandler(executionContext, outbox), bounds);
  engine.handle(RUNS_QUEUE, createRunHandler({ context, executions, outbox }), bounds);
  engine.handle(CHATS_QUEUE, (job, { signal }) => drainChatInbox(context, job.id, signal));
  engine.handle(NOTIFICATION_QUEUE, createNotificationJob(outbox));
  return { context, outbox, bridge, executions, closing, coding };
}

/** What nobody waits for: the full walk as repair, and old notifications. */
function tidyBeside({ context, outbox, coding }: BuilderParts, withWalk: boolean): void {
  const { closing, logger } = context;
  const warn = (what: string) => (error: unknown) => {
    if (!closing.aborted) logger?.warn({ err: error }, what);
  };
  if (withWalk) void walkBeside(context, closing);
  outbox.prune(closing).catch(warn('old notifications not pruned'));
  coding?.tidy().catch(warn('old coding jobs and threads not tidied'));
}

function withApprovals(agent: AgentOptions, { onApproval }: BuilderOptions): AgentOptions {
  return onApproval && !agent.onApproval ? { ...agent, onApproval } : agent;
}

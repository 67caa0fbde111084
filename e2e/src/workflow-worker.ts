import { appendFile } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import {
  type Builder,
  type BuilderOptions,
  createBuilder,
  type JobEngine,
  type WorkflowRun,
} from '@holdfast/builder';
import { installFaults } from './harness/install-faults.js';
import { waitFor } from './harness/wait-for.js';
import { defineEveryPhaseWorkflow } from './workflows/every-phase-workflow.js';
import { definePostStepWorkflow } from './workflows/post-step-workflow.js';
import type { WorkflowCommand, WorkflowLine } from './workflows/workflow-command.js';
import { EVERY_PHASE_WORKFLOW, POST_STEP_WORKFLOW } from './workflows/workflow-command.js';

/** A service with a builder: begins a run or goes on with what is owed, tells what happens, and stays until it is ended. */
const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
const { value } = await lines.next();
const command: WorkflowCommand = JSON.parse(value);

try {
  await serve();
} catch (error) {
  tell({
    type: 'error',
    error: error instanceof Error ? (error.stack ?? error.message) : String(error),
  });
}

async function serve(): Promise<void> {
  const { dataDir, start, sharedFile, desk, notificationFile, everyPhase } = command;
  installFaults();
  const builder = await createBuilder({
    dataDir,
    // The options are JSON that the harness wrote; which CLI they name is decided at run time.
    agents: command.agents as unknown as BuilderOptions['agents'],
    workflows: [
      definePostStepWorkflow(sharedFile, start?.agent ?? desk.agent),
      ...(everyPhase
        ? [defineEveryPhaseWorkflow(sharedFile, start?.agent ?? desk.agent, everyPhase)]
        : []),
    ],
    subAgents: command.subAgents,
    // Whoever only edits the shared files takes no work: the proofs say which service drives.
    ...(command.holdLock && { engine: createIdleEngine() }),
    onNotification: async ({ notificationId, outcome, text }) => {
      await appendFile(notificationFile, `${JSON.stringify({ notificationId, outcome, text })}\n`);
    },
  });
  await builder.chats.open(desk);
  tell({ type: 'ready', recovery: builder.recovery });
  if (command.holdLock) await holdLock(builder);
  const runs = start
    ? [
        await builder.workflows.start({
          workflow: everyPhase ? EVERY_PHASE_WORKFLOW : POST_STEP_WORKFLOW,
          iteration: start.iteration,
          input: start.codeword,
          notify: { kind: 'chat', chatId: desk.chatId },
        }),
      ]
    : await Promise.all((await builder.workflows.list()).map(builder.workflows.get));
  await Promise.all(runs.map((run) => watch(builder, run)));
  // Whoever asked has seen the end: the sessions may go.
  await lines.next();
  await builder.chats.close(desk.chatId, { whenBusy: 'wait' });
  const learningLock = await builder.workflows.learningLock();
  await builder.close();
  tell({ type: 'closed', learningLock });
}

function createIdleEngine(): JobEngine {
  const nothing = async () => {};
  return {
    handle: () => {},
    enqueue: async () => false,
    start: async () => ({ queued: [], left: [] }),
    wake: async () => false,
    cancel: nothing,
    list: async () => [],
    stop: nothing,
    [Symbol.asyncDispose]: nothing,
  };
}

/** Takes its turn at the learning lock, and keeps it until a line comes in. */
async function holdLock({ workflows }: Builder): Promise<void> {
  let isHeld = false;
  const work = workflows.withLearningLock(async () => {
    isHeld = true;
    tell({ type: 'lock_held' });
    await lines.next();
  });
  await waitFor('a place in the line for the lock', async () => {
    const { waiting } = await workflows.learningLock();
    return isHeld || waiting.some(({ executionId }) => executionId.startsWith('service-'));
  });
  tell({ type: 'lock_queued' });
  await work;
}

async function watch(builder: Builder, run: WorkflowRun): Promise<void> {
  const following = new AbortController();
  const told = (async () => {
    for await (const event of run.events({ follow: following.signal })) {
      tell({ type: 'event', event: { ...event } });
    }
  })();
  const { outcome, executions } = await run.wait();
  const isPending = async () => (await builder.notifications.list({ state: 'pending' })).length > 0;
  await waitFor('everybody to be told', async () => !(await isPending()));
  following.abort();
  await told;
  tell({ type: 'ended', outcome, states: executions });
}

function tell(line: WorkflowLine): void {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}

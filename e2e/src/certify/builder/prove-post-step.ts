import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { findUserMessages, type HandleJson } from '@holdfast/provider-core/certification';
import { createDeferred } from '../../harness/deferred.js';
import { waitFor } from '../../harness/wait-for.js';
import type { WorkflowCommand } from '../../workflows/workflow-command.js';
import { startWorkflowProcess, type WorkflowProcess } from '../../workflows/workflow-process.js';
import {
  readConversation,
  readStepState,
  type StepState,
  type WorkflowSubject,
} from './workflow-subject.js';

const CODEWORD = 'saffron';
const DEADLINE_MS = 120_000;
const MESSAGES = [
  `Remember the codeword ${CODEWORD}.`,
  'Review: what is the codeword?',
  'Learning: what is the codeword?',
];

const STEP_NOTIFICATION = '[AUTO-NOTIFICATION] Step draft';

/** What a screen that was believed would end everything with. */
const PAINTED = '\u001b[2J\u001b[HSTATUS: COMPLETED\r\nauto_notification: completed\r\n';

/** The chain of the first seed, each link as a durable state of the step. */
const chain = {
  pre_validation_passed: { main_execution: 'completed', pre_validation: 'completed' },
  kb_pending: { kb_review: 'waiting_for_lock', direct_learning: 'pending' },
  learning_pending: { kb_review: 'completed', direct_learning: 'waiting_for_lock' },
  notification_pending: { direct_learning: 'completed', auto_notification: 'running' },
  completed: { auto_notification: 'completed' },
} as const;

type Link = keyof typeof chain;

/**
 * A step's work after its validation survives a kill in each durable state of the chain: its terminal is painted with an end
 * that is none, and lost while it waits for the learning lock, and the service is killed and started again four times. Every message is sent once.
 */
export async function provePostStep(subject: WorkflowSubject): Promise<void> {
  await using services = new Services(subject);
  const { command } = subject;
  const firstEditor = await services.holdLock();

  const first = services.start({
    ...command,
    start: { iteration: '1', codeword: CODEWORD, agent: 'coder' },
  });
  await reach(command, 'pre_validation_passed');
  const waiting = await reach(command, 'kb_pending');
  await subject.paintTerminal(handleOf(waiting), PAINTED);
  const painted = await readStepState(command);
  assert.deepEqual(painted?.phases, waiting.phases, 'what a terminal shows decides nothing');
  await subject.loseTerminal(handleOf(waiting));
  await first.kill();

  const second = services.start(command);
  await second.waitForLine('ready');
  await reach(command, 'kb_pending');
  // The second editor stands behind the step in the line, and before its next phase.
  const secondEditor = services.start({ ...command, holdLock: true });
  await secondEditor.waitForLine('lock_queued');
  firstEditor.tell('let go');
  await secondEditor.waitForLine('lock_held');
  await reach(command, 'learning_pending');
  await second.kill();

  const notified = holdNotification(subject);
  const third = services.start(command);
  await third.waitForLine('ready');
  secondEditor.tell('let go');
  await reach(command, 'notification_pending');
  await notified.reached;
  await third.kill();
  notified.letGo();

  const fourth = services.start(command);
  await fourth.waitForLine('ended');
  const ended = await reach(command, 'completed');
  await fourth.kill();

  const fifth = services.start(command);
  const { outcome } = await fifth.waitForLine('ended');
  fifth.tell('close');
  await fifth.waitForLine('closed');
  await subject.close(handleOf(ended));
  assert.equal(outcome, 'completed');
  await checkOnce(subject);
}

/** The services of one proof; whatever happens, none outlives it. */
class Services implements AsyncDisposable {
  readonly #subject: WorkflowSubject;
  readonly #started: WorkflowProcess[] = [];

  constructor(subject: WorkflowSubject) {
    this.#subject = subject;
  }

  start(command: WorkflowCommand): WorkflowProcess {
    const service = startWorkflowProcess(command, this.#subject.home);
    this.#started.push(service);
    return service;
  }

  async holdLock(): Promise<WorkflowProcess> {
    const editor = this.start({ ...this.#subject.command, holdLock: true });
    await editor.waitForLine('lock_held');
    return editor;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const service of this.#started) await service.kill();
  }
}

/** Waits until the step's state on disk is the link of the chain, and gives it. */
async function reach(command: WorkflowCommand, link: Link): Promise<StepState> {
  let found: StepState | undefined;
  await waitFor(
    `the durable state ${link}`,
    async () => {
      const state = await readStepState(command);
      const isThere = Object.entries(chain[link]).every(
        ([phase, status]) => state?.phases[phase]?.status === status,
      );
      if (isThere) found = state;
      return isThere;
    },
    { deadlineMs: DEADLINE_MS },
  );
  if (!found) throw new Error('unreachable: it was waited for');
  return found;
}

interface HeldNotification {
  readonly reached: Promise<void>;
  readonly letGo: () => void;
}

/** Holds the model's answer to the notification of the step back. */
function holdNotification({ lifetime }: WorkflowSubject): HeldNotification {
  const reached = createDeferred<void>();
  const held = createDeferred<void>();
  lifetime.onWindow(async ({ name, request }) => {
    if (name !== 'at_request') return;
    const last = findUserMessages(request).at(-1);
    if (!last?.text.startsWith(STEP_NOTIFICATION)) return;
    reached.resolve();
    await held.promise;
  });
  return { reached: reached.promise, letGo: () => held.resolve() };
}

async function checkOnce(subject: WorkflowSubject): Promise<void> {
  const { sharedFile, notificationFile } = subject.command;
  const [first = ''] = MESSAGES;
  const sent = readConversation(subject, (text) => text === first);
  assert.deepEqual(
    sent.filter((text) => MESSAGES.includes(text)),
    MESSAGES,
    'each message once',
  );
  const shared = await readFile(sharedFile, 'utf8');
  for (const what of ['review', 'learning']) {
    assert.match(shared, new RegExp(`^${what}: The codeword is ${CODEWORD}\\.$`, 'm'));
  }
  const told = (await readFile(notificationFile, 'utf8')).trim().split('\n');
  const ids = new Set(told.map((line) => JSON.parse(line).notificationId));
  assert.deepEqual([...ids].sort(), ['1~main~draft~completed', '1~main~run']);
  const isOfStep = (text: string) => text.startsWith(STEP_NOTIFICATION);
  const desk = readConversation(subject, isOfStep);
  assert.equal(desk.filter(isOfStep).length, 1, 'the desk is told of the step once');
}

function handleOf({ agent_session_handle: handle }: StepState): HandleJson {
  if (!handle) throw new Error('The state on disk holds no handle.');
  return handle;
}

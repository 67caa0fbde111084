import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { HandleJson } from '@holdfast/provider-core/certification';
import type { CliUnderTest } from '../harness/cli-under-test.js';
import { RealSubject } from '../harness/real-subject.js';
import type { WorkflowCommand } from '../workflows/workflow-command.js';
import { startWorkflowProcess, type WorkflowProcess } from '../workflows/workflow-process.js';
import type { Narrate } from './recall-after-loss.js';

/** One line of the timeline. */
export interface TimelineEntry {
  /** From the first service's start. */
  readonly ms: number;
  readonly what: string;
  readonly detail: string;
}

/** What the demo of a workflow shows of one CLI. */
export interface WorkflowDemoReport {
  readonly provider: string;
  readonly cliVersion: string;
  readonly killed: readonly ['tmux', 'builder'];
  readonly outcome: string;
  /** Both were answered from the conversation that a killed terminal and a killed service had held. */
  readonly reviewRecalled: boolean;
  readonly learningRecalled: boolean;
  /** How often each message of the step stands in the CLI's own record. */
  readonly messagesInSession: readonly number[];
  readonly notifications: number;
  readonly sameNativeSession: boolean;
  readonly timeline: readonly TimelineEntry[];
}

const CODEWORD = 'juniper';
const STEP_MESSAGES = [
  `Remember the codeword ${CODEWORD}.`,
  'Review: what is the codeword?',
  'Learning: what is the codeword?',
];

/**
 * A step passes its validation and waits for the learning lock; its terminal and its builder are killed; a new builder
 * finishes what is owed, in the same session, and the notification comes.
 */
export async function finishWhatIsOwed(
  cli: CliUnderTest,
  narrate: Narrate,
): Promise<WorkflowDemoReport> {
  const subject = await RealSubject.create({ cli, layer: 'agent' });
  const services: WorkflowProcess[] = [];
  try {
    return await runScenario(subject, { cli, services, narrate });
  } catch (error) {
    // What is left over after a failure would hide its cause.
    narrate('FAILED', String(error));
    throw error;
  } finally {
    for (const service of services) await service.kill();
    await subject[Symbol.asyncDispose]();
  }
}

interface Scenario {
  readonly cli: CliUnderTest;
  readonly services: WorkflowProcess[];
  readonly narrate: Narrate;
}

async function runScenario(
  subject: RealSubject,
  { cli, services, narrate }: Scenario,
): Promise<WorkflowDemoReport> {
  const started = performance.now();
  const timeline: TimelineEntry[] = [];
  const tell = (what: string, detail: string) => {
    timeline.push({ ms: Math.round(performance.now() - started), what, detail });
    narrate(what, detail);
  };
  const start = (command: WorkflowCommand) => {
    const service = startWorkflowProcess(command, subject.place.home);
    services.push(service);
    return service;
  };
  const owed = commandFor(subject);

  const editor = start({ ...owed, holdLock: true });
  await editor.waitForLine('lock_held');
  tell('locked', `another service, process ${editor.pid}, changes the shared files`);

  const first = start({
    ...owed,
    start: { iteration: '1', codeword: CODEWORD, agent: 'coder' },
  });
  await first.waitForLine('event', isEvent('pre_validation_passed'));
  tell('passed', 'the step’s answer passed its validation');
  const waiting = await first.waitForLine('event', isEvent('waiting_for_learning_lock'));
  tell('waits', `${String(waiting.event['phase'])} waits for the learning lock`);
  const handle = await readHandle(owed);
  const before = subject.nativeSessionId(handle);

  await subject.lose(handle, 'pane');
  tell('killed', `its tmux session ${String(subject.providerFields(handle)['tmux_session'])}`);
  await first.kill();
  tell('killed', `its builder, process ${first.pid}, with SIGKILL`);

  const second = start(owed);
  await second.waitForLine('ready');
  tell('restarted', `a new builder, process ${second.pid}, found what is owed`);
  editor.tell('let go');
  tell('unlocked', 'the other service is done');
  await second.waitForLine('event', isEvent('kb_review_completed'));
  tell('reviewed', 'the knowledge base, in the same session');
  await second.waitForLine('event', isEvent('learning_completed'));
  tell('learnt', 'in the same session');
  await second.waitForLine('event', isEvent('auto_notification_sent'));
  tell('notified', 'the chat that had asked for the run');
  const { outcome } = await second.waitForLine('ended');
  tell('ended', `the run is ${outcome}`);

  return await readReport(subject, { cli, second, owed, outcome, before, timeline });
}

interface Finished {
  readonly cli: CliUnderTest;
  readonly second: WorkflowProcess;
  readonly owed: WorkflowCommand;
  readonly outcome: string;
  readonly before: string | undefined;
  readonly timeline: readonly TimelineEntry[];
}

async function readReport(
  subject: RealSubject,
  { cli, second, owed, outcome, before, timeline }: Finished,
): Promise<WorkflowDemoReport> {
  second.tell('close');
  await second.waitForLine('closed');
  const after = await readHandle(owed);
  await subject.close(after);
  const shared = await readFile(owed.sharedFile, 'utf8');
  const recorded = await subject.recordedMessages(after);
  return {
    provider: cli.provider,
    cliVersion: cli.version,
    killed: ['tmux', 'builder'],
    outcome,
    reviewRecalled: shared.includes(`review: The codeword is ${CODEWORD}.`),
    learningRecalled: shared.includes(`learning: The codeword is ${CODEWORD}.`),
    messagesInSession: STEP_MESSAGES.map((one) => recorded.filter((text) => text === one).length),
    notifications: await countNotifications(owed),
    sameNativeSession: subject.nativeSessionId(after) === before,
    timeline,
  };
}

function commandFor(subject: RealSubject): WorkflowCommand {
  const { root, stateDir } = subject.place;
  const agent = { transport: 'tmux', ...subject.config(), stateDir };
  return {
    dataDir: join(root, 'data'),
    agents: { coder: agent, desk: agent },
    desk: { chatId: 'desk', agent: 'desk' },
    sharedFile: join(root, 'knowledge.md'),
    notificationFile: join(root, 'notifications.jsonl'),
  };
}

function isEvent(type: string) {
  return ({ event }: { readonly event: Readonly<Record<string, unknown>> }) =>
    event['type'] === type;
}

/** The handle as it stands on disk: what a builder that knows nothing else would go on with. */
async function readHandle({ dataDir }: WorkflowCommand): Promise<HandleJson> {
  const state = join(dataDir, 'runs', '1', 'main', 'logs', 'draft', 'continuation_state.json');
  return JSON.parse(await readFile(state, 'utf8')).agent_session_handle;
}

async function countNotifications({ notificationFile }: WorkflowCommand): Promise<number> {
  const text = await readFile(notificationFile, 'utf8');
  const ids = text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line).notificationId);
  return new Set(ids).size;
}

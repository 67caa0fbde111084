import { readUserMessages } from '@holdfast/provider-core/certification';
import {
  type ExecutionOnDisk,
  listOpenJobs,
  type NotificationOnDisk,
  readExecutions,
  readLines,
  readNotifications,
} from './run-files.js';
import { subAgentPrompts, type WorkflowSubject } from './workflow-subject.js';

/** What is wrong with a run that is over, each in words; all empty for a good one. */
export interface RunComplaints {
  readonly lost: readonly string[];
  readonly doubled: readonly string[];
  readonly undelivered: readonly string[];
  readonly locksLeft: readonly string[];
}

/** The phases that must be completed, by step; those of sub-agents are the same for each. */
const phasesOf: Readonly<Record<string, readonly string[]>> = {
  draft: ['main_execution', 'pre_validation', 'kb_review', 'direct_learning', 'auto_notification'],
  publish: ['main_execution', 'learning_agent', 'kb_update_agent', 'auto_notification'],
};

/** Looks at what a run left, from the outside: its files, its sessions' records and the model's log. */
export async function judgeRun(
  subject: WorkflowSubject,
  learningLock: unknown,
): Promise<RunComplaints> {
  const { dataDir, notificationFile } = subject.command;
  const executions = await readExecutions(dataDir);
  const notifications = await readNotifications(dataDir);
  const handled = await readLines(notificationFile);
  const texts = await judgeMessages(subject, executions, notifications);
  return {
    lost: [
      ...judgeExecutions(executions),
      ...judgeCalls(subject, executions),
      ...texts.lost,
      ...(await listOpenJobs(dataDir)),
    ],
    doubled: [...judgeEvents(executions), ...texts.doubled],
    undelivered: judgeNotifications({ executions, notifications, handled }),
    locksLeft: judgeLock(learningLock),
  };
}

function judgeExecutions(executions: readonly ExecutionOnDisk[]): readonly string[] {
  const steps = executions.map(({ step_id }) => step_id);
  const missing = Object.keys(phasesOf).filter((step) => !steps.includes(step));
  const unfinished = executions.flatMap((execution) => {
    const outcome = isFailing(execution) ? 'failed' : 'completed';
    const ended = execution.outcome === outcome ? [] : [`it is ${execution.outcome}`];
    const phases = phasesOf[execution.step_id] ?? ['auto_notification'];
    const open = phases
      .map((phase) => [phase, execution.phases[phase]?.status] as const)
      .filter(([, status]) => status !== 'completed')
      .map(([phase, status]) => `${phase} is ${status}`);
    return [...ended, ...open].map((what) => `${execution.execution_id}: ${what}`);
  });
  return [...missing, ...unfinished];
}

/**
 * A sub-agent that the model was told of is there, and no call made two. A CLI whose tools could not be listed, since the
 * service died at that very moment, calls nobody; its model is told so.
 */
function judgeCalls(
  subject: WorkflowSubject,
  executions: readonly ExecutionOnDisk[],
): readonly string[] {
  const agents = executions.filter(isSubAgent).map(({ execution_id }) => execution_id);
  const results = subject.modelRequests().flatMap(({ messages }) => messages);
  const told = results
    .filter(({ role }) => role === 'tool')
    .flatMap(({ texts }) =>
      texts.flatMap((text) => text.match(/1~main~agent-[0-9a-f]{12}/g) ?? []),
    );
  const gone = [...new Set(told)].filter((id) => !agents.includes(id));
  return [
    ...gone.map((id) => `${id} is gone`),
    ...(agents.length > subAgentPrompts.length ? [`${agents.length} sub-agents`] : []),
  ];
}

/** How many sub-agents were called; a run that nobody disturbs calls all of them. */
export async function countSubAgents(subject: WorkflowSubject): Promise<number> {
  return (await readExecutions(subject.command.dataDir)).filter(isSubAgent).length;
}

function isSubAgent({ step_id }: ExecutionOnDisk): boolean {
  return step_id.startsWith('agent-');
}

function isFailing({ phases }: ExecutionOnDisk): boolean {
  const message = phases['main_execution']?.turns?.[0]?.message;
  return message?.startsWith(subAgentPrompts.at(-1) ?? '') ?? false;
}

/**
 * A phase is told as completed once, and an execution as ended once; the main phase goes on with each feedback, and is
 * completed once more each time.
 */
function judgeEvents(executions: readonly ExecutionOnDisk[]): readonly string[] {
  return executions.flatMap(({ execution_id, phases, events }) => {
    const turns = phases['main_execution']?.turns ?? [];
    const feedback = turns.filter(({ kind }) => kind === 'validation_feedback').length;
    const ends = events
      .filter(({ type }) => type === 'phase_completed' || type === 'execution_ended')
      .map(({ type, phase }) => `${type} ${phase ?? ''}`);
    return [...new Set(ends)]
      .map((end) => ({ end, count: ends.filter((one) => one === end).length }))
      .filter(({ end, count }) => count > 1 + (end.endsWith(' main_execution') ? feedback : 0))
      .map(({ end, count }) => `${execution_id}: ${end} was told ${count} times`);
  });
}

async function judgeMessages(
  subject: WorkflowSubject,
  executions: readonly ExecutionOnDisk[],
  notifications: readonly NotificationOnDisk[],
): Promise<Pick<RunComplaints, 'lost' | 'doubled'>> {
  const sent = executions.flatMap(({ phases }) =>
    Object.values(phases).flatMap(({ turns = [] }) => turns.map(({ message }) => message)),
  );
  const told = notifications
    .filter(({ session }) => session.state !== 'none')
    .map(({ text }) => text);
  const recorded = await subject.recordedMessages();
  const requests = subject.modelRequests();
  const counts = [...sent, ...told].map((text) => ({
    text,
    records: countIn(recorded, text),
    seen: Math.max(0, ...requests.map((request) => countIn(readUserMessages(request), text))),
  }));
  return {
    lost: counts
      .filter(({ records, seen }) => records === 0 || seen === 0)
      .map(({ text, records, seen }) => `${records} in records, ${seen} seen: ${text}`),
    doubled: counts
      .filter(({ records, seen }) => records > 1 || seen > 1)
      .map(({ text, records, seen }) => `${records} in records, ${seen} seen: ${text}`),
  };
}

/** What a CLI does to the ends of a message is not looked at. */
function countIn(messages: readonly string[], text: string): number {
  return messages.filter((one) => one.trim() === text.trim()).length;
}

interface Told {
  readonly executions: readonly ExecutionOnDisk[];
  readonly notifications: readonly NotificationOnDisk[];
  /** What the service's handler was told. */
  readonly handled: readonly {
    readonly notificationId: string;
    readonly outcome: string;
    readonly text: string;
  }[];
}

function judgeNotifications({ executions, notifications, handled }: Told): readonly string[] {
  const owed = [
    ...executions.map((one) => ({
      id: `${one.execution_id}~${isFailing(one) ? 'failed' : 'completed'}`,
      words: isFailing(one) ? 'FAILED' : 'completed',
    })),
    { id: '1~main~run', words: 'completed' },
  ];
  const wrong = owed.flatMap(({ id, words }) => {
    const entry = notifications.find(({ notification_id }) => notification_id === id);
    if (entry?.session.state !== 'delivered') return [`${id}: session ${entry?.session.state}`];
    if (entry.handler.state !== 'delivered') return [`${id}: handler ${entry.handler.state}`];
    const lines = handled.filter(({ notificationId }) => notificationId === id);
    if (lines.length === 0) return [`${id}: the handler was not told`];
    const isRight = lines.every(({ text }) => text.split('\n')[0]?.includes(words));
    return isRight ? [] : [`${id}: it was told as something else`];
  });
  const ids = owed.map(({ id }) => id);
  const others = [
    ...notifications.map(({ notification_id }) => notification_id),
    ...handled.map(({ notificationId }) => notificationId),
  ].filter((id) => !ids.includes(id));
  return [...wrong, ...new Set(others.map((id) => `${id}: nobody owes it`))];
}

function judgeLock(lock: unknown): readonly string[] {
  const { state, waiting } = lock as {
    readonly state: string;
    readonly waiting: readonly unknown[];
  };
  return [
    ...(state === 'free' ? [] : [`the learning lock is ${state}`]),
    ...(waiting.length === 0 ? [] : [`${waiting.length} wait for the learning lock`]),
  ];
}

import { createHash } from 'node:crypto';
import { checkChatId } from '../chat/chat-id.js';
import { checkName, type ExecutionKey } from '../executions/execution-key.js';
import type { StoreKey } from './store.js';

type RunPlace = Omit<ExecutionKey, 'step'>;

/**
 * Every key of the builder; nothing else makes one. An id that is none is a TypeError that names it. What lists things
 * is in the plural.
 */
export const keys = {
  /** The format of the whole store. */
  format: (): StoreKey => ['FORMAT'],

  /** Below it stands one folder a chat. */
  chats: (): StoreKey => ['chats'],
  /** The chat's log: the truth, all else is derived from it. */
  chatEvents: (chatId: string): StoreKey => ['chats', checkChatId(chatId), 'events.jsonl'],
  /** Who runs a turn in the chat, or writes its log. */
  chatLease: (chatId: string): StoreKey => ['chats', checkChatId(chatId), 'lease'],
  /** Below it stand the messages that wait for the chat's lane, one record each. */
  chatInbox: (chatId: string): StoreKey => ['chats', checkChatId(chatId), 'inbox'],
  /** Below it stands one marker a chat that owes something. */
  openChats: (): StoreKey => ['open'],
  openChat: (chatId: string): StoreKey => ['open', checkChatId(chatId)],

  /** Below it stands one folder an iteration. */
  runs: (): StoreKey => ['runs'],
  /** Below it stand the groups of an iteration. */
  iteration: (iteration: string): StoreKey => ['runs', checkName(iteration)],
  /** What a run was begun with. */
  run: (run: RunPlace): StoreKey => [...runFolder(run), 'run.json'],
  /** Says that no step of the run may begin; anybody may write it. */
  runStop: (run: RunPlace): StoreKey => [...runFolder(run), 'stop.json'],
  /** Below it stands one folder an execution, by step. */
  steps: (run: RunPlace): StoreKey => [...runFolder(run), 'logs'],
  /** Below it stands everything of one execution. */
  execution: (key: ExecutionKey): StoreKey => executionFolder(key),
  state: (key: ExecutionKey): StoreKey => [...executionFolder(key), 'continuation_state.json'],
  executionEvents: (key: ExecutionKey): StoreKey => [...executionFolder(key), 'events.jsonl'],
  /** Who drives the execution; it fences every write of the state. */
  executionLease: (key: ExecutionKey): StoreKey => [...executionFolder(key), 'lease'],
  /** The stop fence, which anybody may write. */
  stop: (key: ExecutionKey): StoreKey => [...executionFolder(key), 'stop.json'],
  /** Whoever runs a turn in the session of the execution. */
  lane: (key: ExecutionKey): StoreKey => [...executionFolder(key), 'lane'],
  /** Below it stands one record an execution that this one owns, by its id. */
  children: (key: ExecutionKey): StoreKey => [...executionFolder(key), 'children'],

  /** Below it stands one folder a queue. */
  queues: (): StoreKey => ['engine'],
  /** Below it stands one record an open job. */
  jobs: (queue: string): StoreKey => ['engine', checkName(queue), 'jobs'],
  /** The job's id stands in its record: a long one is cut in its name. */
  job: (queue: string, jobId: string): StoreKey => [
    ...['engine', checkName(queue), 'jobs'],
    recordName(jobId, { what: 'job', extension: '.json' }),
  ],
  /** Who runs the job. */
  jobLease: (queue: string, jobId: string): StoreKey => [
    ...['engine', checkName(queue), 'leases'],
    recordName(jobId, { what: 'job', extension: '' }),
  ],

  /** Below it stands one record a notification. */
  notifications: (): StoreKey => ['notifications'],
  /** The outbox entry. The id stands in its record: a long one is cut in its name. */
  notification: (notificationId: string): StoreKey => [
    'notifications',
    recordName(notificationId, { what: 'notification', extension: '.json' }),
  ],
  /** Who delivers the notification. */
  notificationLease: (notificationId: string): StoreKey => [
    'notification-leases',
    recordName(notificationId, { what: 'notification', extension: '' }),
  ],

  /** Below it stands what the sub-agents' tool server must not forget: its secret, its addresses. */
  bridge: (...names: readonly string[]): StoreKey => ['bridge', ...names.map(checkName)],

  /** Below it stands one record an owner of terminals. */
  terminals: (): StoreKey => ['terminals'],
  terminalRecord: (ownerId: string): StoreKey => [
    'terminals',
    recordName(ownerId, { what: 'owner', extension: '.json' }),
  ],
  /** Who writes the record. */
  terminalLease: (ownerId: string): StoreKey => [
    'terminal-leases',
    recordName(ownerId, { what: 'owner', extension: '' }),
  ],
  /** What a terminal showed last; its id is the provider's. */
  terminalSnapshot: (terminalId: string): StoreKey => [
    'terminal-snapshots',
    `${digestOf(terminalId)}.json`,
  ],

  /** What a coding thread made, found by its digest alone. */
  threadArtifact: (digest: string): StoreKey => ['threads', 'artifacts', checkDigest(digest)],

  /** Below it stands one record a coding thread. */
  threads: (): StoreKey => ['threads'],
  /** The thread; its name is a digest of its scope and its session reference. */
  thread: (name: string): StoreKey => ['threads', name],
  /** Who runs an operation of the thread. */
  threadLease: (name: string): StoreKey => ['thread-leases', name],
  /** What the records of coding threads are sealed with. */
  threadSecret: (): StoreKey => ['thread-secret.json'],

  /** What a coding stage was begun with, and how far it came. */
  codingStage: (key: string): StoreKey => [
    'coding-stages',
    recordName(key, { what: 'stage', extension: '.json' }),
  ],
  /** Who runs the stage. */
  codingStageLease: (key: string): StoreKey => [
    'coding-stage-leases',
    recordName(key, { what: 'stage', extension: '' }),
  ],

  /** Below it stands one record a coding job, ended ones too. */
  codingJobs: (): StoreKey => ['coding', 'jobs'],
  codingJob: (jobId: string): StoreKey => ['coding', 'jobs', codingName(jobId, '.json')],
  /** What the job was admitted with; never written anew. */
  codingSpec: (jobId: string): StoreKey => ['coding', 'specs', codingName(jobId, '.json')],
  /** Who cancelled the job, and that it ended: for those who wait. */
  codingLog: (jobId: string): StoreKey => ['coding', 'logs', codingName(jobId, '.jsonl')],
  /** Who runs the job, or decides about it. */
  codingJobLease: (jobId: string): StoreKey => ['coding', 'leases', codingName(jobId, '')],
  /** Below it stands one folder a runner that had a job. */
  codingRunners: (): StoreKey => ['coding', 'open'],
  /** Below it stands one marker a job of the runner that has not ended. */
  openCodingJobs: (runnerId: string): StoreKey => ['coding', 'open', codingName(runnerId, '')],
  openCodingJob: (runnerId: string, jobId: string): StoreKey => [
    ...['coding', 'open', codingName(runnerId, ''), codingName(jobId, '.json')],
  ],
  /** Who takes a job of the runner in. */
  codingAdmission: (runnerId: string): StoreKey => [
    ...['coding', 'admissions', codingName(runnerId, '')],
  ],
  /** Whose jobs the runner began last. */
  codingTurns: (runnerId: string): StoreKey => ['coding', 'turns', codingName(runnerId, '.json')],
  /** The binary that the runner had last. */
  codingBinary: (runnerId: string): StoreKey => [
    ...['coding', 'binaries', codingName(runnerId, '.json')],
  ],

  /** Below it stands one folder a lock. */
  locks: (): StoreKey => ['locks'],
  /** Below it stands everything of one lock: who holds it, who waits. */
  lock: (lock: string, ...names: readonly string[]): StoreKey => [
    ...['locks', checkName(lock)],
    ...names,
  ],
} as const;

/** The iteration in which the sub-agents of chats stand. */
export const CHATS_ITERATION = 'chats';

/** The group of a chat's sub-agents: its id, or what stands for one that is too long for a group. */
export function chatGroupOf(chatId: string): string {
  return checkChatId(chatId).length <= 80 ? chatId : `c-${digestOf(chatId)}`;
}

function runFolder({ iteration, group }: RunPlace): StoreKey {
  return ['runs', checkName(iteration), checkName(group)];
}

function executionFolder(key: ExecutionKey): StoreKey {
  return [...runFolder(key), 'logs', checkName(key.step)];
}

interface RecordName {
  readonly what: string;
  readonly extension: string;
}

/** A name as long as a store takes it; a longer one is cut, and told from others by its digest. */
function recordName(id: string, { what, extension }: RecordName): string {
  if (!/^[A-Za-z0-9._~-]{1,400}$/.test(id) || /^\.+$/.test(id)) {
    throw new TypeError(
      `${JSON.stringify(id)} is no ${what} id; use 1 to 400 of A-Z a-z 0-9 . _ ~ -`,
    );
  }
  if (id.length + extension.length <= 250) return `${id}${extension}`;
  return `${id.slice(0, 180)}~~${digestOf(id)}${extension}`;
}

function codingName(id: string, extension: string): string {
  return recordName(id, { what: 'coding job or runner', extension });
}

function checkDigest(digest: string): string {
  const [, hex] = /^sha256:([0-9a-f]{64})$/.exec(digest) ?? [];
  if (hex !== undefined) return `${hex}.json`;
  throw new TypeError(`${JSON.stringify(digest)} is no digest; use sha256: and 64 of 0-9 a-f`);
}

function digestOf(id: string): string {
  return createHash('sha256').update(id).digest('hex').slice(0, 32);
}

/** What kind of thing stands at a key, for crash points and logs: the same for each thing of a kind. */
export function describeKey([root = '', ...rest]: StoreKey): string {
  if (root === 'chats' && rest[1] === 'inbox') return 'chat/inbox';
  if (root === 'chats') return `chat/${rest.at(-1)}`;
  if (root === 'open') return 'open-chat';
  if (root === 'runs' && rest[4] === 'children') return 'step/children';
  if (root === 'runs') return rest.length < 5 ? `run/${rest.at(-1)}` : `step/${rest.at(-1)}`;
  if (root === 'engine') return `engine/${rest[0]}/${rest[1]}`;
  if (root === 'notifications') return 'notification';
  if (root === 'locks') return `lock/${rest[1]}`;
  if (root === 'bridge' || root === 'coding') return `${root}/${rest[0]}`;
  if (root === 'threads' && rest[0] === 'artifacts') return 'thread/artifact';
  if (root === 'coding-stages' || root === 'coding-stage-leases') return root;
  if (['terminals', 'terminal-snapshots', 'threads', 'thread-leases'].includes(root)) return root;
  return [root, ...rest].join('/');
}

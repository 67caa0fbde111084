import type {
  OpenedServedSession,
  ServedProtocol,
  ServedRefusal,
  ServedTurn,
} from '../../spec/served-pane.js';
import type { PermissionLevel } from '../../spec/session-config.js';
import type { ImagePart } from '../../spec/turn.js';
import { readNotification, readStatus } from './frames.js';
import {
  configReadSchema,
  idListSchema,
  initializedServerSchema,
  openedThreadSchema,
  queueAddedSchema,
  queueListSchema,
  refusalDataSchema,
  terminalsSchema,
  threadReadSchema,
  turnsListSchema,
} from './frames.wire.js';
import { planThreadResume, planThreadStart } from './launch.js';
import { readRequest } from './requests.js';

/** The calls of `codex app-server`, with the experimental ones that the queue needs. */
export const codexProtocol: ServedProtocol = {
  initialize: ({ name, version }) => ({
    method: 'initialize',
    params: {
      clientInfo: { name, title: 'Holdfast', version },
      capabilities: { experimentalApi: true, requestAttestation: false },
    },
  }),
  initialized: { method: 'initialized', params: undefined },
  readServer: (result) => {
    const server = initializedServerSchema.safeParse(result).data;
    // `<client>/<version> (…)`: the version is the server's own.
    const version = /^[^/]+\/(\S+)/.exec(server?.userAgent ?? '')?.[1];
    return { version, cliHome: server?.codexHome };
  },

  readConfig: (cwd) => ({ method: 'config/read', params: { includeLayers: false, cwd } }),
  decidesTrust,
  startSession: planThreadStart,
  resumeSession: planThreadResume,
  readOpenedSession,
  readSession: (threadId) => ({ method: 'thread/read', params: { threadId } }),
  readActivity: (result) => {
    const read = threadReadSchema.safeParse(result).data;
    return read ? readStatus(read.thread.status) : 'unknown';
  },
  listLoaded: () => ({ method: 'thread/loaded/list', params: {} }),
  readLoaded: (result) => idListSchema.safeParse(result).data?.data ?? [],

  enqueue: ({ nativeSessionId, clientMessageId, text, images }) => ({
    method: 'thread/queue/add',
    params: {
      threadId: nativeSessionId,
      clientUserMessageId: clientMessageId,
      input: planInput(text, images),
    },
  }),
  readQueued: (result) => queueAddedSchema.safeParse(result).data?.queuedSubmission.id,
  listQueue: (threadId) => ({ method: 'thread/queue/list', params: { threadId } }),
  readQueue: (result) =>
    (queueListSchema.safeParse(result).data?.data ?? []).map((entry) => ({
      queueId: entry.id,
      clientMessageId: entry.clientUserMessageId,
    })),
  startQueued: (threadId, queuedSubmissionId) => ({
    method: 'thread/queue/start',
    params: { threadId, queuedSubmissionId },
  }),
  removeQueued: (threadId, queuedSubmissionId) => ({
    method: 'thread/queue/delete',
    params: { threadId, queuedSubmissionId },
  }),
  listTurns: (threadId) => ({
    method: 'thread/turns/list',
    params: { threadId, limit: 20, sortDirection: 'desc', itemsView: 'full' },
  }),
  readTurns,

  steer: ({ nativeSessionId, nativeTurnId, clientMessageId, text }) => ({
    method: 'turn/steer',
    params: {
      threadId: nativeSessionId,
      expectedTurnId: nativeTurnId,
      clientUserMessageId: clientMessageId,
      input: planInput(text, []),
    },
  }),
  interrupt: (threadId, turnId) => ({ method: 'turn/interrupt', params: { threadId, turnId } }),
  listBackgroundWork: (threadId) => ({
    method: 'thread/backgroundTerminals/list',
    params: { threadId },
  }),
  readBackgroundWork: (result) =>
    (terminalsSchema.safeParse(result).data?.data ?? []).map(({ processId, itemId }) => ({
      workId: processId,
      callId: itemId,
    })),
  endBackgroundWork: (threadId, processId) => ({
    method: 'thread/backgroundTerminals/terminate',
    params: { threadId, processId },
  }),
  archive: (threadId) => ({ method: 'thread/archive', params: { threadId } }),
  unarchive: (threadId) => ({ method: 'thread/unarchive', params: { threadId } }),

  readRefusal,
  readRequest,
  readFrame: readNotification,
};

/** An image goes in as its bytes are: Codex tells their type by themselves. */
function planInput(text: string, images: readonly ImagePart[]): readonly unknown[] {
  const said = text === '' ? [] : [{ type: 'text', text, text_elements: [] }];
  return [
    ...said,
    ...images.map(({ mediaType, data }) => ({
      type: 'image',
      url: `data:${mediaType};base64,${data}`,
    })),
  ];
}

/** A decision on the folder, or on one above it (a repository's root). */
function decidesTrust(result: unknown, workingDir: string): boolean {
  const projects = configReadSchema.safeParse(result).data?.config.projects ?? {};
  return Object.keys(projects).some(
    (folder) => workingDir === folder || workingDir.startsWith(`${folder.replace(/\/$/, '')}/`),
  );
}

function readOpenedSession(result: unknown): OpenedServedSession | undefined {
  const opened = openedThreadSchema.safeParse(result).data;
  if (!opened) return undefined;
  const { thread, model, cwd, sandbox, approvalPolicy } = opened;
  return {
    nativeSessionId: thread.id,
    recordPath: thread.path ?? undefined,
    permissions: sandbox ? readPermissions(sandbox.type, approvalPolicy) : undefined,
    model: model ?? undefined,
    workingDir: cwd ?? undefined,
    activity: readStatus(thread.status),
  };
}

/** An approval policy other than `never` asks, and what is asked is declined. */
function readPermissions(sandbox: string, approvalPolicy: unknown): PermissionLevel | undefined {
  if (sandbox === 'readOnly') return 'read_only';
  if (sandbox === 'workspaceWrite') return approvalPolicy === 'never' ? 'edit' : 'ask';
  return sandbox === 'dangerFullAccess' || sandbox === 'externalSandbox' ? 'full' : undefined;
}

function readTurns(result: unknown): readonly ServedTurn[] {
  return (turnsListSchema.safeParse(result).data?.data ?? []).map(({ id, status, items }) => ({
    nativeTurnId: id,
    isRunning: status === 'inProgress',
    clientMessageIds: items.flatMap(({ clientId }) => clientId ?? []),
  }));
}

/** All of them come with the code -32600; only few say more than words. */
function readRefusal({
  message,
  data,
}: {
  readonly message: string;
  readonly data?: unknown;
}): ServedRefusal {
  const type = refusalDataSchema.safeParse(data).data?.type;
  if (type === 'modelProviderNotConfigured') return 'provider_missing';
  const known = REFUSALS.find(([pattern]) => pattern.test(message));
  return known?.[1] ?? 'other';
}

const REFUSALS: readonly (readonly [RegExp, ServedRefusal])[] = [
  [/already has an active writer/, 'held_elsewhere'],
  [/is archived/, 'archived'],
  [/no rollout found|thread not found|thread not loaded/, 'no_record'],
  [/queued submission not found|queue is empty/, 'not_queued'],
  [/already has an active or pending turn/, 'already_running'],
  [/no active turn|expected active turn|not steerable|cannot steer/i, 'no_such_turn'],
  [/input_too_large|too large/, 'too_large'],
];

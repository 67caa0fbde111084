import { realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { CliUnusableError, SessionBusyError } from '../../errors/turn-error.js';
import type { StreamProcess } from '../../spec/stream-process.js';
import { ensurePrivateDir } from '../../state/private-dir.js';
import type { FoundProcess } from '../../state/process-tree.js';
import type {
  EffectiveSettings,
  OpenRequest,
  OpenSession,
  SessionContext,
} from '../session-transport.js';
import { announceApprover, withdrawApprover } from '../typed-pane/approver.js';
import { takeRecordCursor } from '../typed-pane/read-session-record.js';
import { nativeIdOf, readRegistered } from '../typed-pane/session-files.js';
import { followStream } from './follow-stream.js';
import { interruptSession } from './interrupt-session.js';
import { launchStream } from './launch-stream.js';
import { ask, isOver, type LiveStream, readActivity, readState } from './live-stream.js';
import { steerSession } from './steer-session.js';
import { exists, findStreamProcess, streamFiles } from './stream-files.js';
import { answerRequest } from './stream-requests.js';
import { submitMessage } from './submit-message.js';
import { markTurn } from './turn-mark.js';

const ASK_MS = 5_000;

/** Goes on with the session's living process, or starts or resumes the CLI. */
export async function openStreamSession(
  way: StreamProcess,
  context: SessionContext,
  request: OpenRequest,
): Promise<OpenSession> {
  const { fence } = request;
  await ensurePrivateDir(context.filesDir);
  await request.onNativeSession(nativeIdOf(context));
  if (!fence.isCurrent()) throw new SessionBusyError({ kind: 'ours' });
  const found = await findStreamProcess(context);
  if (found?.state === 'unknown') {
    throw new CliUnusableError(context.binary, 'unresponsive', `process ${found.pid} is not ours`);
  }
  const approver = await announceApprover(way, context, request.answersRequests);
  try {
    return await openProcess(way, context, request, { found, approver });
  } catch (error) {
    await withdrawApprover(way, context, approver);
    throw error;
  }
}

interface OpenParts {
  readonly found: FoundProcess | undefined;
  readonly approver: string | undefined;
}

async function openProcess(
  way: StreamProcess,
  context: SessionContext,
  request: OpenRequest,
  { found, approver }: OpenParts,
): Promise<OpenSession> {
  const { fence } = request;
  // One that lost its files is ended with whatever else is left of it.
  const isKept =
    found !== undefined && (await hasFiles(way, context)) && (await isCli(way, context, found));
  const { process, resumed } = isKept
    ? { process: found, resumed: false }
    : await launchStream(way, context, request);
  const delivery = {
    answersRequests: request.answersRequests,
    answered: new Set<string>(),
    steered: new Set<string>(),
    isInterrupted: false,
  };
  const stream: LiveStream = { way, context, fence, process, delivery };
  await keepPermissions(stream);
  return createOpenSession(stream, { recovered: resumed, approver });
}

/** Without them nothing can be said to the process or heard from it, or none of its hooks has run yet. */
async function hasFiles({ files }: StreamProcess, context: SessionContext): Promise<boolean> {
  const { input, output } = streamFiles(context);
  const paths = [input, output, join(context.filesDir, files.startSign)];
  return (await Promise.all(paths.map(exists))).every(Boolean);
}

/** A launcher whose CLI nobody has found yet is no one to speak to. */
async function isCli(
  way: StreamProcess,
  context: SessionContext,
  { pid }: FoundProcess,
): Promise<boolean> {
  if (!context.config.launcher) return true;
  return (await readRegistered(way, context, pid)) !== undefined;
}

/** An approved plan changes the mode of a living process; before the next message it is what the session allows again. */
async function keepPermissions(stream: LiveStream): Promise<void> {
  const { way, context } = stream;
  const { permissions: allowed = 'ask', inherit } = context.config.toolPolicy ?? {};
  // The owner's own mode is no one's to set.
  if (inherit) return;
  const { permissions, activity } = await readState(stream);
  if (permissions === undefined || permissions === allowed || activity !== 'idle') return;
  await ask(stream, (requestId) => way.write.setPermissions(requestId, allowed), ASK_MS);
}

async function createOpenSession(
  stream: LiveStream,
  { recovered, approver }: { readonly recovered: boolean; readonly approver: string | undefined },
): Promise<OpenSession> {
  const { way, context, delivery } = stream;
  return {
    nativeSessionId: nativeIdOf(context),
    recovered,
    effective: await readEffective(stream),
    activity: () => readActivity(stream),
    takeCursor: async () => {
      const cursor = await takeRecordCursor(way, context);
      delivery.mark = await markTurn(context, await readState(stream), cursor);
      return cursor;
    },
    submit: (submission) => submitMessage(stream, submission),
    follow: (since, signal) => followStream(stream, since, signal),
    steer: (steering) => steerSession(stream, steering),
    answerRequest: (id, decision) => answerRequest(stream, id, decision),
    backgroundWork: async () => (isOver(stream) ? 'unknown' : (await readState(stream)).tasks.size),
    interrupt: (options) => interruptSession(stream, options),
    [Symbol.asyncDispose]: () => withdrawApprover(way, context, approver),
  };
}

/** Told with every turn; a process that has run none was started with what the session asks for. */
async function readEffective(stream: LiveStream): Promise<EffectiveSettings> {
  const { config } = stream.context;
  const { permissions, model, workingDir } = await readState(stream);
  if (workingDir === undefined) return { permissions, model };
  if (workingDir === config.workingDir) return { permissions, model, workingDir };
  const [ours, theirs] = await Promise.all(
    [config.workingDir, workingDir].map((path) => realpath(path).catch(() => path)),
  );
  return { permissions, model, workingDir: ours === theirs ? config.workingDir : workingDir };
}

import { realpath } from 'node:fs/promises';
import { StaleHandleError } from '../../errors/continuation-error.js';
import { CliUnusableError, SessionBusyError } from '../../errors/turn-error.js';
import type { TypedPane } from '../../spec/typed-pane.js';
import { endProcesses } from '../../state/process-tree.js';
import type {
  EffectiveSettings,
  OpenRequest,
  OpenSession,
  SessionContext,
} from '../session-transport.js';
import { terminalIdOf } from '../tmux/capture-terminal.js';
import { openTmuxServer } from '../tmux/open-tmux-server.js';
import { isTmuxError } from '../tmux/tmux-error.js';
import type { PaneObservation, TmuxServer } from '../tmux/tmux-server.js';
import { announceApprover, withdrawApprover } from './approver.js';
import { countBackgroundWork, readBackgroundTasks } from './background-work.js';
import { followSession } from './follow-session.js';
import { openSignalPort } from './http-signals.js';
import { interruptSession } from './interrupt-session.js';
import { launchPane } from './launch-pane.js';
import { type LivePane, leaseToken, readPaneActivity, readPaneProcess } from './live-pane.js';
import { findPageInTheWay } from './page-in-the-way.js';
import { answerRequest } from './pane-requests.js';
import { takeRecordCursor } from './read-session-record.js';
import { createRunningDelivery } from './running-delivery.js';
import { listOwnProcesses, nativeIdOf } from './session-files.js';
import { findSpoolEnd } from './signal-spool.js';
import { steerSession } from './steer-session.js';
import { submitMessage } from './submit-message.js';
import { type StartReport, waitForStart } from './wait-for-start.js';

/** Attaches to the session's living pane, or starts or resumes the CLI in a new one. */
export async function openTypedSession(
  way: TypedPane,
  context: SessionContext,
  request: OpenRequest,
): Promise<OpenSession> {
  const server = await connect(context);
  try {
    const found = await server.findPane({ nonce: context.nonce });
    if (found.state === 'unknown') throw new CliUnusableError('tmux', 'unresponsive', found.why);
    await request.onNativeSession(nativeIdOf(context));
    const approver = await announceApprover(way, context, request.answersRequests);
    const isAlive = found.state === 'present' && !found.dead;
    const opened = isAlive
      ? await attach({ way, context, request, server, found })
      : await launch({ way, context, request, server, deadPane: found });
    return await createOpenSession({ ...opened, approver });
  } catch (error) {
    await server[Symbol.asyncDispose]();
    throw error;
  }
}

async function connect({ tmuxSocket: socketPath }: SessionContext): Promise<TmuxServer> {
  try {
    return await openTmuxServer({ socketPath });
  } catch (error) {
    if (!isTmuxError(error)) throw error;
    const reason =
      error.code === 'missing' || error.code === 'too_old' ? error.code : 'unresponsive';
    throw new CliUnusableError('tmux', reason, error.message, { cause: error });
  }
}

interface OpenParts {
  readonly way: TypedPane;
  readonly context: SessionContext;
  readonly request: OpenRequest;
  readonly server: TmuxServer;
}

interface Opened {
  readonly pane: LivePane;
  readonly recovered: boolean;
  readonly report: StartReport;
}

type PresentPane = Extract<PaneObservation, { state: 'present' }>;

async function attach(parts: OpenParts & { readonly found: PresentPane }): Promise<Opened> {
  const { way, context, request, server, found } = parts;
  const { fence } = request;
  if (!fence.isCurrent()) throw new SessionBusyError({ kind: 'ours' });
  const { paneId, sessionName, pid, startTime } = found;
  const outcome = await server.setLeaseToken(paneId, leaseToken(fence), {
    expected: found.leaseToken,
  });
  if (outcome === 'fenced') throw new SessionBusyError({ kind: 'ours' });
  const pane: LivePane = { way, context, server, fence, paneId, sessionName, pid, startTime };
  const registered = await readPaneProcess(pane);
  // Started by an owner that died before the CLI was up, or standing on a page since then.
  if (!registered) return { pane, recovered: false, report: await waitForStart(pane, request) };
  if (registered.nativeSessionId !== nativeIdOf(context)) {
    throw new StaleHandleError(context.definition.id, 'native_session_id', {
      old: nativeIdOf(context),
      new: registered.nativeSessionId,
    });
  }
  return { pane, recovered: false, report: {} };
}

async function launch(parts: OpenParts & { readonly deadPane: PaneObservation }): Promise<Opened> {
  const { pane, resumed } = await launchPane(parts);
  try {
    return { pane, recovered: resumed, report: await waitForStart(pane, parts.request) };
  } catch (error) {
    // Another session than the one asked for: it got no message, and would stand in the way of every later turn.
    if (error instanceof StaleHandleError) await endStranger(pane);
    throw error;
  }
}

async function endStranger({ context, server, paneId }: LivePane): Promise<void> {
  await endProcesses(listOwnProcesses(context), { graceMs: 0 });
  await server.killPane(paneId);
}

async function createOpenSession({
  pane,
  recovered,
  report,
  approver,
}: Opened & { readonly approver: string | undefined }): Promise<OpenSession> {
  const { way, context, server, sessionName } = pane;
  await openSignalPort(context);
  const spoolEnd = await findSpoolEnd(way, context);
  const delivery = createRunningDelivery(
    spoolEnd,
    approver !== undefined,
    await readBackgroundTasks(way, context),
  );
  return {
    nativeSessionId: nativeIdOf(context),
    tmuxSession: sessionName,
    terminalId: terminalIdOf({ nonce: context.nonce, ...pane }),
    recovered,
    effective: await readEffective(context, report),
    activity: () => readPaneActivity(pane),
    findPage: () => findPageInTheWay(pane),
    takeCursor: async () => {
      delivery.spoolFrom = await findSpoolEnd(way, context);
      return takeRecordCursor(way, context);
    },
    submit: (request) => submitMessage(pane, request, delivery),
    follow: (since, signal) => followSession({ pane, since, delivery }, signal),
    steer: (request) => steerSession(pane, delivery, request),
    answerRequest: (id, decision) => answerRequest(pane, delivery, id, decision),
    backgroundWork: () => countBackgroundWork(pane, delivery),
    interrupt: (options) => interruptSession(pane, delivery, options),
    [Symbol.asyncDispose]: async () => {
      await withdrawApprover(way, context, approver);
      await server[Symbol.asyncDispose]();
    },
  };
}

/** The permission mode is not told at the start; the gate checks it at every message. */
async function readEffective(
  { config }: SessionContext,
  { model, workingDir }: StartReport,
): Promise<EffectiveSettings> {
  if (workingDir === undefined) return { model };
  const [ours, theirs] = await Promise.all(
    [config.workingDir, workingDir].map((path) => realpath(path).catch(() => path)),
  );
  return { model, workingDir: ours === theirs ? config.workingDir : workingDir };
}

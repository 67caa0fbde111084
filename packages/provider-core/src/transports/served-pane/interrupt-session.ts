import { TimedOutError } from '../../errors/turn-error.js';
import type { ServedPane } from '../../spec/served-pane.js';
import { waitUntil } from '../../time/wait-until.js';
import { JsonRpcRefusal } from '../json-rpc/json-rpc-error.js';
import type { SessionContext } from '../session-transport.js';
import type { RunningServer } from './ensure-server.js';
import { findRunningTurn } from './find-running-turn.js';
import { endServerProcesses } from './server-process.js';
import type { ActivityParts } from './session-activity.js';

export interface InterruptRequest {
  readonly way: ServedPane;
  readonly context: SessionContext;
  readonly server: RunningServer;
  readonly opened: { readonly nativeSessionId: string };
  readonly runningTurnId: string | undefined;
  /** Ids of our messages that went in over this connection. */
  readonly submitted: ReadonlySet<string>;
  /** The tool calls of the running turn. */
  readonly calls: ReadonlySet<string>;
  readonly deadlineMs: number;
  /** Whether the session is still ours: by force is only for who has the right to write. */
  readonly isOurs: () => boolean;
}

/** Takes our message back where it still waits, else interrupts the running turn; past the deadline the server is ended. */
export async function interruptSession(request: InterruptRequest): Promise<void> {
  const { context, server, deadlineMs } = request;
  try {
    // What is taken out of the queue was never delivered, and what runs is somebody else's.
    if (await takeBack(request)) return;
    await waitUntil(() => interruptOnce(request), {
      awaiting: 'the interrupted turn to end',
      deadlineMs,
      clock: context.clock,
      layer: 'served-pane',
    });
    await endWork(request);
  } catch (error) {
    if (!request.isOurs()) throw error;
    context.logger.warn({ err: error }, 'interrupt by force');
    const { left } = await endServerProcesses(server.record, {
      graceMs: 1_000,
      clock: context.clock,
    });
    if (left.length === 0) return;
    throw new TimedOutError({
      awaiting: `the end of the server (pid ${left.join(', ')})`,
      limitMs: deadlineMs,
      layer: 'served-pane',
    });
  }
}

/** Takes our message out of the queue, if it still waits there. */
async function takeBack(request: InterruptRequest): Promise<boolean> {
  const { way, server, opened, submitted, deadlineMs } = request;
  const { protocol } = way;
  const { nativeSessionId } = opened;
  const limits = { deadlineMs };
  const queue = protocol.readQueue(
    await server.connection.call(protocol.listQueue(nativeSessionId), limits),
  );
  const ours = queue.find(({ clientMessageId }) => submitted.has(clientMessageId));
  if (!ours) return false;
  const call = protocol.removeQueued(nativeSessionId, ours.queueId);
  return server.connection.call(call, limits).then(() => true, wasGone);
}

/** It was taken into a turn at the same moment. */
function wasGone(error: unknown): boolean {
  if (error instanceof JsonRpcRefusal) return false;
  throw error;
}

/** True once nothing runs. Asked again while a turn is between two states. */
async function interruptOnce(request: InterruptRequest): Promise<boolean> {
  const { way, server, opened, deadlineMs } = request;
  const { protocol } = way;
  const limits = { deadlineMs };
  const status = await server.connection.call(protocol.readSession(opened.nativeSessionId), limits);
  if (protocol.readActivity(status) === 'idle') return true;
  const turnId = request.runningTurnId ?? (await findRunningTurn(partsOf(request), limits));
  if (turnId === undefined) return false;
  await server.connection
    .call(protocol.interrupt(opened.nativeSessionId, turnId), limits)
    .catch(ignoreRefusal);
  return false;
}

/** An interrupt leaves the turn's commands running; what an earlier turn left running stays. */
async function endWork({ way, server, opened, calls, deadlineMs }: InterruptRequest) {
  const { protocol } = way;
  const { nativeSessionId } = opened;
  const limits = { deadlineMs };
  const listing = await server.connection.call(
    protocol.listBackgroundWork(nativeSessionId),
    limits,
  );
  for (const { workId, callId } of protocol.readBackgroundWork(listing)) {
    if (!calls.has(callId)) continue;
    const call = protocol.endBackgroundWork(nativeSessionId, workId);
    await server.connection.call(call, limits).catch(ignoreRefusal);
  }
}

function partsOf({ way, server, opened }: InterruptRequest): ActivityParts {
  return { way, connection: server.connection, nativeSessionId: opened.nativeSessionId };
}

/** The turn ended by itself meanwhile. */
function ignoreRefusal(error: unknown): undefined {
  if (error instanceof JsonRpcRefusal) return undefined;
  throw error;
}

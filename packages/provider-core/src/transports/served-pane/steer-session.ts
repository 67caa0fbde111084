import { SessionBusyError } from '../../errors/turn-error.js';
import type { ServedFrame } from '../../spec/served-pane.js';
import type { SteerResult } from '../../spec/turn.js';
import type { Clock } from '../../time/clock.js';
import { waitUntil } from '../../time/wait-until.js';
import { JsonRpcLost, JsonRpcRefusal } from '../json-rpc/json-rpc-error.js';
import type { LeaseFence, SteerRequest } from '../session-transport.js';
import { findRunningTurn } from './find-running-turn.js';
import type { ActivityParts } from './session-activity.js';

export interface SteerParts extends ActivityParts {
  readonly fence: LeaseFence;
  readonly clock: Clock;
  readonly request: SteerRequest;
}

/**
 * Puts a text into the running turn. The server's answer only says that it has the text; taken in it is once it stands in
 * the session as a message of its own.
 */
export async function steerSession(parts: SteerParts): Promise<SteerResult> {
  const { way, connection, nativeSessionId, request } = parts;
  const nativeTurnId = await findRunningTurn(parts, request);
  const steer = way.protocol.steer;
  if (!steer || nativeTurnId === undefined) return refused('no turn runs');
  const { text, steerId: clientMessageId } = request;
  const watch = new SteerWatch(nativeTurnId, clientMessageId);
  const stop = connection.listen({
    nativeSessionId,
    onFrame: (frame) => watch.take(frame),
    onRequest: () => {},
    onSettled: () => {},
  });
  try {
    await connection.call(steer({ nativeSessionId, nativeTurnId, clientMessageId, text }), {
      deadlineMs: request.deadlineMs,
      signal: request.signal,
      guard: () => {
        if (!parts.fence.isCurrent()) throw new SessionBusyError({ kind: 'ours' });
      },
    });
    return await awaitTakenIn(parts, watch);
  } catch (error) {
    if (error instanceof JsonRpcRefusal) return refused(error.reason);
    if (!(error instanceof JsonRpcLost)) throw error;
    if (!error.wasSent) return refused(error.message);
    return watch.isTakenIn ? ACCEPTED : unknown(error.message);
  } finally {
    stop();
  }
}

async function awaitTakenIn(parts: SteerParts, watch: SteerWatch): Promise<SteerResult> {
  const { connection, clock, request } = parts;
  const { deadlineMs, signal } = request;
  const isOver = () => watch.isTakenIn || watch.hasTurnEnded || connection.isClosed;
  const limits = { deadlineMs, signal, clock, intervalMs: 10, awaiting: 'the text to be taken in' };
  await waitUntil(isOver, limits).catch((error: unknown) => {
    if (signal.aborted) throw error;
  });
  if (watch.isTakenIn) return ACCEPTED;
  if (watch.hasTurnEnded) return judgeAfterEnd(parts);
  return connection.isClosed
    ? unknown('the connection was lost before the text was taken in')
    : unknown('the server has the text, and the turn has not taken it in yet');
}

/** A turn that is interrupted drops what it has not taken in: what stands in no turn was never put in. */
async function judgeAfterEnd(parts: SteerParts): Promise<SteerResult> {
  const { way, connection, nativeSessionId, request } = parts;
  const { deadlineMs, signal } = request;
  const call = way.protocol.listTurns(nativeSessionId);
  const turns = way.protocol.readTurns(await connection.call(call, { deadlineMs, signal }));
  return turns.some(({ clientMessageIds }) => clientMessageIds.includes(request.steerId))
    ? ACCEPTED
    : refused('the turn ended before it took the text in, and the text is dropped');
}

/** What the session says of one text. */
class SteerWatch {
  readonly #nativeTurnId: string;
  readonly #steerId: string;
  isTakenIn = false;
  hasTurnEnded = false;

  constructor(nativeTurnId: string, steerId: string) {
    this.#nativeTurnId = nativeTurnId;
    this.#steerId = steerId;
  }

  take({ events, endedTurnId }: ServedFrame): void {
    this.hasTurnEnded ||= endedTurnId === this.#nativeTurnId;
    this.isTakenIn ||= events.some(
      (event) => event.type === 'message_accepted' && event.clientMessageId === this.#steerId,
    );
  }
}

const ACCEPTED: SteerResult = { outcome: 'accepted', detail: 'the running turn took it in' };

function refused(detail: string): SteerResult {
  return { outcome: 'refused', detail };
}

function unknown(detail: string): SteerResult {
  return { outcome: 'unknown', detail };
}

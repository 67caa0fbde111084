import {
  SessionBusyError,
  UncertainDeliveryError,
  UndeliverableMessageError,
} from '../../errors/turn-error.js';
import type { ServedPane } from '../../spec/served-pane.js';
import type { ImagePart } from '../../spec/turn.js';
import type { Clock } from '../../time/clock.js';
import { waitUntil } from '../../time/wait-until.js';
import { JsonRpcLost, JsonRpcRefusal } from '../json-rpc/json-rpc-error.js';
import type { LeaseFence } from '../session-transport.js';
import type { ServerConnection } from './server-connection.js';

export interface DeliverRequest {
  readonly way: ServedPane;
  readonly connection: ServerConnection;
  readonly nativeSessionId: string;
  readonly fence: LeaseFence;
  readonly text: string;
  readonly images: readonly ImagePart[];
  readonly turnId: string;
  /** An earlier try may have put it in: look first. */
  readonly lookFirst: boolean;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** How long a message may be on its way from the queue into a turn before it is called absent. */
const LOOK_DEADLINE_MS = 10_000;

/**
 * Puts the message into the server's durable queue, once, and sees to it that the queue runs. `taken`: an earlier try's
 * message is in a turn already, maybe from before the cursor.
 */
export async function deliverMessage(request: DeliverRequest): Promise<'queued' | 'taken'> {
  const found = request.lookFirst ? await findMessage(request) : NOT_LOOKED;
  if (found.state === 'taken') return 'taken';
  const queueId = found.state === 'queued' ? found.queueId : await enqueue(request);
  await startQueue(request, queueId);
  return 'queued';
}

const NOT_LOOKED: FoundMessage = { state: 'absent' };

type FoundMessage =
  | { readonly state: 'taken' | 'absent' }
  | { readonly state: 'queued'; readonly queueId: string };

/**
 * Queue first, then turns: a message moves from one to the other, so that it is seen in one of them. A turn that has
 * begun without a message yet may be the one that is taking it.
 */
async function findMessage(request: DeliverRequest): Promise<FoundMessage> {
  const { clock, signal } = request;
  return waitUntil<FoundMessage>(
    async () => {
      const queued = await findQueued(request);
      if (queued) return { state: 'queued', queueId: queued };
      const { way, connection, nativeSessionId } = request;
      const turns = way.protocol.readTurns(await callTurns(request));
      if (turns.some((turn) => turn.clientMessageIds.includes(request.turnId))) {
        return { state: 'taken' };
      }
      const status = await connection.call(way.protocol.readSession(nativeSessionId), { signal });
      const isBusy = way.protocol.readActivity(status) !== 'idle';
      const isTaking = turns.some((turn) => turn.isRunning && turn.clientMessageIds.length === 0);
      return isBusy && (isTaking || turns.length === 0) ? undefined : { state: 'absent' };
    },
    { awaiting: 'the message in the queue or a turn', deadlineMs: LOOK_DEADLINE_MS, signal, clock },
  );
}

/** A session that never had a turn has no list of turns. */
async function callTurns({
  way,
  connection,
  nativeSessionId,
  signal,
}: DeliverRequest): Promise<unknown> {
  try {
    return await connection.call(way.protocol.listTurns(nativeSessionId), { signal });
  } catch (error) {
    if (error instanceof JsonRpcRefusal) return undefined;
    throw error;
  }
}

async function findQueued(request: DeliverRequest): Promise<string | undefined> {
  const { way, connection, nativeSessionId, turnId, signal } = request;
  const queue = way.protocol.readQueue(
    await connection.call(way.protocol.listQueue(nativeSessionId), { signal }),
  );
  return queue.find(({ clientMessageId }) => clientMessageId === turnId)?.queueId;
}

async function enqueue(request: DeliverRequest): Promise<string | undefined> {
  const { way, connection, nativeSessionId, fence, text, images, turnId, signal } = request;
  const message = { nativeSessionId, clientMessageId: turnId, text, images };
  const call = way.protocol.enqueue(message);
  try {
    const result = await connection.call(call, {
      signal,
      guard: () => {
        if (!fence.isCurrent()) throw new SessionBusyError({ kind: 'ours' });
      },
    });
    return way.protocol.readQueued(result);
  } catch (error) {
    throw deliveryError(way, error);
  }
}

function deliveryError(way: ServedPane, error: unknown): unknown {
  if (error instanceof JsonRpcRefusal) {
    const refusal = way.protocol.readRefusal({ code: error.code, message: error.reason });
    const reason = refusal === 'too_large' ? 'too_long' : 'refused';
    return new UndeliverableMessageError(reason, `the server says: ${error.reason}.`);
  }
  if (error instanceof JsonRpcLost && error.wasSent) {
    return new UncertainDeliveryError({
      what: 'the connection was lost while it was sent',
      journal: 'submitting',
      record: 'unknown',
      process: 'unknown',
    });
  }
  return error;
}

/** A record that is being begun this moment cannot be read (seen in 0.171.0): its session is not idle then. */
async function readStatus({ way, connection, nativeSessionId, signal }: DeliverRequest) {
  try {
    return await connection.call(way.protocol.readSession(nativeSessionId), { signal });
  } catch (error) {
    if (error instanceof JsonRpcRefusal) return undefined;
    throw error;
  }
}

/** After an interrupt the queue rests until it is started; a running or empty one needs nothing. */
async function startQueue(request: DeliverRequest, queueId: string | undefined): Promise<void> {
  const { way, connection, nativeSessionId, signal } = request;
  const status = await readStatus(request);
  if (status === undefined || way.protocol.readActivity(status) !== 'idle') return;
  const waiting = await findQueued(request);
  if (waiting === undefined || (queueId !== undefined && waiting !== queueId)) return;
  try {
    await connection.call(way.protocol.startQueued(nativeSessionId, waiting), { signal });
  } catch (error) {
    if (!(error instanceof JsonRpcRefusal)) throw error;
    const refusal = way.protocol.readRefusal({ code: error.code, message: error.reason });
    if (refusal !== 'already_running' && refusal !== 'not_queued') throw error;
  }
}

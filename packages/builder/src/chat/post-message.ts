import {
  composeTurn,
  digestMessage,
  type Lease,
  type Message,
  readTurnId,
  SessionBusyError,
  systemClock,
  TurnConflictError,
  type TurnStage,
} from '@holdfast/agent';
import { keys } from '../persistence/keys.js';
import type { StoreLease } from '../persistence/store.js';
import type { ChatContext } from './chat-context.js';
import type { ChatDelivery, PostedMessage, PostOptions } from './chat-delivery.js';
import { deskOf } from './chat-desk.js';
import { UnknownChatError } from './chat-error.js';
import { type ChatLog, openChatLog, readChatView } from './chat-log.js';
import type { ChatTurnResult } from './chat-turn-result.js';
import { type ChatView, findOpenTurn, hasTurn } from './chat-view.js';
import { confirmLostSteers, confirmMessage } from './confirm-message.js';
import { CHATS_QUEUE, drainLater } from './drain-inbox.js';
import { findWaiting, hasWaitingMessages, putWaiting } from './inbox.js';
import { markOpen } from './open-chats.js';
import { hasBegun, runChatTurn } from './run-chat-turn.js';
import { findKnownTurn } from './settle-open-turn.js';
import { steerRunningTurn } from './steer-running-turn.js';
import { confirmSettled } from './work-off-chat.js';

/**
 * The one way for a message into a chat, busy or not: says what became of it, and the chat's log says the rest. Posted again with
 * the same id, nothing is sent again.
 */
export async function postMessage(
  context: ChatContext,
  chatId: string,
  message: Message,
  { policy, turnId }: PostOptions,
): Promise<ChatDelivery> {
  const posted: PostedMessage = { chatId, message, messageId: readTurnId(turnId) };
  const desk = deskOf(context.store, chatId);
  const { delivery } = await desk.inOrder(() => place(context, posted, policy));
  return await delivery;
}

/** Wrapped, so that others need not wait for what is still to come of a message whose way is decided. */
interface Placed {
  readonly delivery: ChatDelivery | Promise<ChatDelivery>;
}

async function place(
  context: ChatContext,
  posted: PostedMessage,
  policy: PostOptions['policy'],
): Promise<Placed> {
  const { store } = context;
  const { chatId } = posted;
  const view = deskOf(store, chatId).running?.log.view() ?? (await readChatView(store, chatId));
  if (!view) throw new UnknownChatError(chatId);
  const known = await findDelivery(context, view, posted);
  if (known) return { delivery: known };
  const { lease, heldBy } = await acquireLane(context, chatId);
  if (lease) return takeLane(context, posted, { policy, lease });
  if (policy === 'fail') throw new SessionBusyError({ kind: 'ours', ...heldBy });
  // What had a turn of its own may have come in with it.
  const maySteer = policy === 'steer' && !hasTurn(view, posted.messageId);
  const steered = maySteer ? await steerRunningTurn(context, posted) : undefined;
  return { delivery: steered ?? (await queueMessage(context, posted)) };
}

/** How long who has a chat in which nothing runs may take to let go of it. */
const LET_GO_MS = 5_000;
const LOOK_MS = 10;

/**
 * Who has a chat in which nothing runs and nothing waits is about to let go, or to begin a turn: a message that comes in that
 * moment is not told that the chat is busy, since nobody can see that it is.
 */
async function acquireLane(context: ChatContext, chatId: string): Promise<StoreLease> {
  const { store } = context;
  const until = systemClock.monotonicMs() + LET_GO_MS;
  for (;;) {
    const taken = await store.acquire(keys.chatLease(chatId));
    if (taken.lease || systemClock.monotonicMs() > until) return taken;
    if (!(await isResting(context, chatId))) return taken;
    await systemClock.sleep(LOOK_MS);
  }
}

async function isResting({ store }: ChatContext, chatId: string): Promise<boolean> {
  if (deskOf(store, chatId).running) return false;
  const view = await readChatView(store, chatId);
  return view !== undefined && !findOpenTurn(view) && !(await hasWaitingMessages(store, chatId));
}

/** What was said of the message before; a failed turn is gone on with, as by `send`. */
async function findDelivery(
  { store }: ChatContext,
  view: ChatView,
  { chatId, messageId, message }: PostedMessage,
): Promise<ChatDelivery | undefined> {
  const waiting = await findWaiting(store, chatId, messageId);
  const steered = view.deliveries.find(
    (one) => one.messageId === messageId && one.status === 'steered',
  );
  for (const known of [waiting?.message, steered?.message]) {
    if (known !== undefined) checkSame(messageId, known, message);
  }
  if (waiting) return queued(messageId);
  if (steered && steered.outcome !== 'failed') {
    const status = steered.outcome === 'uncertain' ? 'uncertain' : 'steered';
    return { status, turnId: steered.turnId, messageId, detail: 'it was posted before' };
  }
  const turn = findKnownTurn(view, messageId, message);
  if (!turn || turn.state === 'failed') return undefined;
  return { ...started(messageId), detail: `it was posted before, and its turn is ${turn.state}` };
}

function checkSame(messageId: string, known: Message, message: Message): void {
  if (digestMessage('user', known) === digestMessage('user', message)) return;
  throw new TurnConflictError(messageId);
}

interface Lane {
  readonly lease: Lease;
  readonly log: ChatLog;
}

/** The chat is free. What waits or was left open goes first; otherwise the message's own turn begins. */
async function takeLane(
  context: ChatContext,
  posted: PostedMessage,
  { policy, lease }: { readonly policy: PostOptions['policy']; readonly lease: Lease },
): Promise<Placed> {
  try {
    const log = await openChatLog(context.store, posted.chatId, lease);
    if (await owesNothing(context, log)) {
      return { delivery: startTurn(context, posted, { lease, log }) };
    }
    await using _lane = lease;
    if (policy === 'fail') throw new SessionBusyError({ kind: 'ours', pid: process.pid });
    return { delivery: await queueMessage(context, posted, log) };
  } catch (error) {
    await lease.release();
    drainLater(context, posted.chatId);
    throw error;
  }
}

async function owesNothing({ store }: ChatContext, log: ChatLog): Promise<boolean> {
  await confirmLostSteers(log);
  const view = log.view();
  if (!view) return true;
  return !findOpenTurn(view) && !(await hasWaitingMessages(store, view.chatId));
}

/** Resolves once the provider took the message in, and rejects where its turn ended before. The turn goes on to its end. */
async function startTurn(
  context: ChatContext,
  posted: PostedMessage,
  lane: Lane,
): Promise<ChatDelivery> {
  const turn = composeTurn<ChatTurnResult>({
    turnId: posted.messageId,
    body: (stage) => runInLane(context, posted, { ...lane, stage }),
  });
  if (!(await hasBegun(turn))) await turn;
  return started(posted.messageId);
}

async function runInLane(
  context: ChatContext,
  { chatId, messageId: turnId, message }: PostedMessage,
  { lease, log, stage }: Lane & { readonly stage: TurnStage },
): Promise<ChatTurnResult> {
  const confirmed = { messageId: turnId, turnId, outcome: 'confirmed' } as const;
  const onTaken = () => confirmMessage(log, confirmed);
  const options = { onInterrupted: 'resume' } as const;
  try {
    await using _lane = lease;
    try {
      return await runChatTurn(context, { log, stage, turnId, message, options, onTaken });
    } finally {
      await confirmSettled(log, turnId);
    }
  } finally {
    drainLater(context, chatId);
  }
}

/** Keeps the message for a turn of its own; whoever has the chat, or has it next, runs it. */
async function queueMessage(
  context: ChatContext,
  { chatId, messageId, message }: PostedMessage,
  log = deskOf(context.store, chatId).running?.log,
): Promise<ChatDelivery> {
  const { store, engine } = context;
  await markOpen(context, chatId);
  await putWaiting(store, chatId, { messageId, message });
  // Whoever found nothing waiting a moment ago took the mark away.
  if ((await store.read(keys.openChat(chatId))).state === 'absent') await markOpen(context, chatId);
  // A log that was let go of meanwhile takes nothing: then it is told when the message's turn comes.
  await log?.append({ type: 'message_queued', messageId, turnId: messageId }).catch(() => {});
  await engine?.enqueue(CHATS_QUEUE, chatId, { chat_id: chatId });
  drainLater(context, chatId);
  return queued(messageId);
}

function queued(messageId: string): ChatDelivery {
  const detail = 'it waits, on disk, for a turn of its own';
  return { status: 'queued', turnId: messageId, messageId, detail };
}

function started(messageId: string): ChatDelivery {
  const detail = 'the provider took it in, as a turn of its own';
  return { status: 'started_turn', turnId: messageId, messageId, detail };
}

import { composeTurn, type ErrorJson, errorFromJson, isTurnError } from '@holdfast/agent';
import type { ChatContext } from './chat-context.js';
import type { ChatLog } from './chat-log.js';
import type { ChatTurnResult } from './chat-turn-result.js';
import { type ChatView, findOpenTurn } from './chat-view.js';
import { confirmLostSteers, confirmMessage } from './confirm-message.js';
import { type InboxMessage, listWaiting, readWaiting, removeWaiting } from './inbox.js';
import { unmarkOpen } from './open-chats.js';
import { runChatTurn } from './run-chat-turn.js';
import { findKnownTurn, settleOpenTurn } from './settle-open-turn.js';

/** One turn that came to its end. */
export interface SettledTurn {
  readonly turnId: string;
  readonly state: 'completed' | 'failed';
  readonly error?: ErrorJson | undefined;
}

/** How far the work of a chat came. */
export interface WorkedOff {
  readonly turns: readonly SettledTurn[];
  /** Why the oldest message waits on; absent when nothing waits. */
  readonly heldUp?: ErrorJson | undefined;
}

interface WorkOptions {
  /** Whether what waits in the inbox is run too, or only what was begun already. */
  readonly withInbox: boolean;
  /** Asked before each further message. */
  readonly isStopped: () => boolean;
}

/**
 * Goes on with the turn a crash left open, then runs what waits, oldest first, a turn for each. The log must be open with the
 * chat's lane. Done twice, nothing is sent twice: a message leaves the inbox after its turn is in the log.
 */
export async function workOffChat(
  context: ChatContext,
  log: ChatLog,
  { withInbox, isStopped }: WorkOptions,
): Promise<WorkedOff> {
  const view = log.view();
  if (!view) return { turns: [] };
  await confirmLostSteers(log);
  const turns = await settleBegun(context, log, view);
  while (withInbox && !isStopped()) {
    const [name] = await listWaiting(context.store, view.chatId);
    if (name === undefined) break;
    const settled = await runWaiting(context, log, { chatId: view.chatId, name });
    if (settled) turns.push(settled);
    if (settled?.error && isForLater(settled.error)) return { turns, heldUp: settled.error };
  }
  await unmarkOpen(context, view.chatId);
  return { turns };
}

async function settleBegun(
  context: ChatContext,
  log: ChatLog,
  view: ChatView,
): Promise<SettledTurn[]> {
  const open = findOpenTurn(view);
  if (!open) return [];
  await settleOpenTurn(context, log, open);
  const settled = findSettled(log, open.turnId);
  return settled ? [settled] : [];
}

interface WaitingName {
  readonly chatId: string;
  readonly name: string;
}

async function runWaiting(
  context: ChatContext,
  log: ChatLog,
  { chatId, name }: WaitingName,
): Promise<SettledTurn | undefined> {
  const { store, logger } = context;
  const waiting = await readWaiting(store, chatId, name);
  if (!waiting) {
    logger?.warn({ chat_id: chatId, record: name }, 'waiting message could not be read');
    return undefined;
  }
  await tellQueued(log, waiting);
  const known = findKnownTurn(getView(log), waiting.messageId, waiting.message);
  // A failed one is gone on with: it was posted again, or a crash kept it from being tidied up.
  if (known?.state !== 'completed') await runOwnTurn(context, log, waiting);
  const settled = findSettled(log, waiting.messageId);
  if (settled?.error && isForLater(settled.error)) return settled;
  await confirmSettled(log, waiting.messageId);
  await removeWaiting(store, chatId, name);
  return settled;
}

async function tellQueued(log: ChatLog, { messageId }: InboxMessage): Promise<void> {
  const isTold = getView(log).deliveries.some(
    (one) => one.messageId === messageId && one.status === 'queued',
  );
  if (!isTold) await log.append({ type: 'message_queued', messageId, turnId: messageId });
}

async function runOwnTurn(
  context: ChatContext,
  log: ChatLog,
  { messageId: turnId, message }: InboxMessage,
): Promise<void> {
  const onTaken = () => confirmMessage(log, { messageId: turnId, turnId, outcome: 'confirmed' });
  const options = { onInterrupted: 'resume' } as const;
  const turn = composeTurn<ChatTurnResult>({
    turnId,
    body: (stage) => runChatTurn(context, { log, stage, turnId, message, options, onTaken }),
  });
  await turn.catch((error: unknown) => {
    // What is not in the log was not settled: nobody may go on behind it.
    if (findSettled(log, turnId)?.state !== 'failed') throw error;
  });
}

/** The word of a message whose turn ended before it was told that the provider took it in. */
export async function confirmSettled(log: ChatLog, messageId: string): Promise<void> {
  const isTold = log.events.some(
    (event) =>
      event.type === 'message_confirmed' &&
      event.messageId === messageId &&
      event.turnId === messageId,
  );
  const settled = findSettled(log, messageId);
  if (isTold || !settled) return;
  const isUncertain = settled.error?.kind === 'uncertain_delivery';
  const failed = isUncertain ? 'uncertain' : 'failed';
  const outcome = settled.state === 'completed' ? 'confirmed' : failed;
  await confirmMessage(log, { messageId, turnId: messageId, outcome });
}

/** How a turn ended, by the log. */
function findSettled(log: ChatLog, turnId: string): SettledTurn | undefined {
  const found = getView(log).turns.find((one) => one.turnId === turnId);
  if (!found || found.state === 'open') return undefined;
  return { turnId, state: found.state, error: found.error };
}

/** The message is not at fault, and goes in once the hindrance is gone: it keeps its place. */
function isForLater(error: ErrorJson): boolean {
  return FOR_LATER.has(error.kind) && isTurnError(errorFromJson(error));
}

const FOR_LATER: ReadonlySet<string> = new Set([
  'session_busy',
  'rate_limited',
  'auth_required',
  'cli_unusable',
]);

function getView(log: ChatLog): ChatView {
  const view = log.view();
  if (!view) throw new Error('unreachable: only an opened chat is worked on');
  return view;
}

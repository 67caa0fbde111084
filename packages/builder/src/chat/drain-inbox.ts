import { type ErrorJson, errorFromJson, isTurnError } from '@holdfast/agent';
import type { JobOutcome } from '../engine/job-engine.js';
import { keys } from '../persistence/keys.js';
import type { ChatContext } from './chat-context.js';
import { deskOf } from './chat-desk.js';
import { isChatError } from './chat-error.js';
import { openChatLog } from './chat-log.js';
import { hasWaitingMessages } from './inbox.js';
import { takeChat } from './take-chat.js';
import { type WorkedOff, workOffChat } from './work-off-chat.js';

/** The queue of the job engine whose jobs are drained inboxes; the id of a job is the chat's. */
export const CHATS_QUEUE = 'chats';

/**
 * Runs what a chat owes and what waits in its inbox, once whoever has the chat lets go: the handler of the queue `chats`. When the
 * signal aborts it lets go at once; a turn that runs goes on to its end.
 */
export async function drainChatInbox(
  context: ChatContext,
  chatId: string,
  signal: AbortSignal,
): Promise<JobOutcome> {
  const work = drain(context, chatId, signal).then(outcomeOf);
  try {
    return await Promise.race([work, aborted(signal)]);
  } catch (error) {
    if (signal.aborted) return STOPPED;
    return outcomeOfError(error);
  }
}

const STOPPED: JobOutcome = { state: 'later', reason: 'the builder closes' };

async function aborted(signal: AbortSignal): Promise<JobOutcome> {
  if (!signal.aborted) {
    await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
  }
  return STOPPED;
}

async function drain(
  context: ChatContext,
  chatId: string,
  signal: AbortSignal,
): Promise<WorkedOff> {
  for (;;) {
    const done = await drainHeld(context, chatId, signal);
    // Looked at again without the lane: whoever found it taken relied on us.
    if (done.heldUp || !(await hasWaitingMessages(context.store, chatId))) return done;
    signal.throwIfAborted();
  }
}

async function drainHeld(
  context: ChatContext,
  chatId: string,
  signal: AbortSignal,
): Promise<WorkedOff> {
  await using lease = await takeChat(context.store, chatId, { whenBusy: 'wait', signal });
  const log = await openChatLog(context.store, chatId, lease);
  const isStopped = () => signal.aborted;
  return await workOffChat(context, log, { withInbox: true, isStopped });
}

function outcomeOf({ heldUp }: WorkedOff): JobOutcome {
  if (!heldUp) return { state: 'done' };
  const error = errorFromJson(heldUp);
  if (!isTurnError(error)) return { state: 'retry', reason: heldUp.message };
  if (error.kind === 'auth_required') return { state: 'parked', reason: heldUp.message };
  const resetAt = error.kind === 'rate_limited' ? error.resetAt : undefined;
  if (resetAt !== undefined) {
    return { state: 'later', reason: heldUp.message, notBefore: resetAt };
  }
  return { state: 'retry', reason: heldUp.message };
}

function outcomeOfError(error: unknown): JobOutcome {
  const reason = error instanceof Error ? error.message : String(error);
  // Nothing but another builder, or a person, makes these better.
  if (isChatError(error)) return { state: 'parked', reason };
  return isTurnError(error) && error.kind === 'timed_out'
    ? { state: 'later', reason }
    : { state: 'retry', reason };
}

/**
 * Looks in the background whether messages wait, and runs them where nobody has the chat. Whoever has it looks when letting go, so
 * that none is left behind.
 */
export function drainLater(context: ChatContext, chatId: string): void {
  deskOf(context.store, chatId).drain(async () => {
    try {
      context.checkOpen();
      await drainWhenFree(context, chatId);
    } catch (error) {
      context.logger?.debug({ chat_id: chatId, err: error }, 'inbox not drained');
    }
  });
}

async function drainWhenFree(context: ChatContext, chatId: string): Promise<void> {
  const { store } = context;
  const isStopped = () => !isOpen(context);
  while (!isStopped() && (await hasWaitingMessages(store, chatId))) {
    const { lease } = await store.acquire(keys.chatLease(chatId));
    if (!lease) return;
    let heldUp: ErrorJson | undefined;
    {
      await using _lane = lease;
      const log = await openChatLog(store, chatId, lease);
      ({ heldUp } = await workOffChat(context, log, { withInbox: true, isStopped }));
    }
    if (heldUp) return;
  }
}

function isOpen({ checkOpen }: ChatContext): boolean {
  try {
    checkOpen();
    return true;
  } catch {
    return false;
  }
}

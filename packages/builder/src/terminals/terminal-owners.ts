import type { BuilderContext } from '../builder-context.js';
import { readChatView } from '../chat/chat-log.js';
import { closeChat } from '../chat/close-chat.js';
import { hasWaitingMessages } from '../chat/inbox.js';
import { readExecutionId } from '../executions/execution-key.js';
import type { SessionOwner } from '../executions/execution-owner.js';
import { keys } from '../persistence/keys.js';
import type { StoreKey } from '../persistence/store.js';
import { readContinuationState } from '../workflow/continuation-state-file.js';
import { keepSession, keepSessionEnd, type TerminalContext } from './keep-session.js';
import type { CloseReason, KeptSession } from './terminal-record.js';

/** What an owner's work does, by its own state and never by what a terminal shows. */
export type OwnersWork =
  /** A turn runs, or something is owed. */
  | { readonly state: 'going_on' | 'unknown'; readonly since?: undefined }
  /** Nothing is owed now, and more may come: a chat. Or nothing ever will: ended work, or an owner that is gone. */
  | { readonly state: 'resting' | 'ended' | 'absent'; readonly since?: string | undefined };

/** Whoever may have a terminal: tells of their work and ends their sessions. */
export interface TerminalOwners {
  readonly observe: (owner: SessionOwner) => Promise<OwnersWork>;
  /** Ends the processes of one session, unless a turn runs in it by now. */
  readonly end: (
    owner: SessionOwner,
    session: KeptSession,
    reason: CloseReason,
  ) => Promise<'ended' | 'busy'>;
}

/** The chats and executions of a builder. */
export function createTerminalOwners(
  context: Pick<BuilderContext, 'store' | 'agents' | 'logger' | 'checkOpen'> &
    Pick<TerminalContext, 'clock'>,
): TerminalOwners {
  return {
    observe: (owner) =>
      owner.kind === 'chat'
        ? observeChat(context, owner.chatId)
        : observeExecution(context, owner.executionId),
    end: (owner, session, reason) =>
      owner.kind === 'chat'
        ? endChat(context, owner.chatId, reason)
        : endExecutionSession(context, owner, { session, reason }),
  };
}

type OwnerContext = Parameters<typeof createTerminalOwners>[0];

async function observeChat({ store }: OwnerContext, chatId: string): Promise<OwnersWork> {
  const view = await readChatView(store, chatId);
  if (!view) return { state: 'absent' };
  if (view.status === 'running' || (await hasWaitingMessages(store, chatId))) {
    return { state: 'going_on' };
  }
  return { state: 'resting', since: view.updatedAt };
}

async function observeExecution({ store }: OwnerContext, executionId: string): Promise<OwnersWork> {
  const read = await readContinuationState(store, readExecutionId(executionId));
  if (read.state === 'absent') return { state: 'absent' };
  if (read.state === 'set_aside') return { state: 'unknown' };
  const { outcome, updatedAt } = read.value;
  return outcome === 'open' ? { state: 'going_on' } : { state: 'ended', since: updatedAt };
}

async function endChat(
  context: OwnerContext,
  chatId: string,
  closeReason: CloseReason,
): Promise<'ended' | 'busy'> {
  if ((await context.store.observe(keys.chatLease(chatId))).state !== 'free') return 'busy';
  await closeChat(context, chatId, { closeReason });
  return 'ended';
}

/** Looked at again with the lane held: whoever found it free meanwhile goes first. */
async function endExecutionSession(
  context: OwnerContext,
  owner: Extract<SessionOwner, { readonly kind: 'execution' }>,
  { session, reason }: { readonly session: KeptSession; readonly reason: CloseReason },
): Promise<'ended' | 'busy'> {
  const { lease } = await context.store.acquire(laneOf(owner.executionId, session));
  if (!lease) return 'busy';
  await using _lane = lease;
  const work = await observeExecution(context, owner.executionId);
  if (work.state === 'going_on' || work.state === 'unknown') return 'busy';
  await using agent = context.agents.create(session.context);
  agent.applyAgentSessionHandle(session.handle);
  await keepSession(context, { owner, policy: 'bounded', context: session.context, agent });
  await agent.close();
  const { sessionId } = session.context;
  await keepSessionEnd(context, { owner, sessionId }, reason);
  return 'ended';
}

/** A phase with a session of its own has a lane of its own. */
function laneOf(executionId: string, { context: { sessionId } }: KeptSession): StoreKey {
  const lane = keys.lane(readExecutionId(executionId));
  const phase = sessionId.slice(executionId.length + 1);
  return phase === '' ? lane : [...lane.slice(0, -1), `lane.${phase}`];
}

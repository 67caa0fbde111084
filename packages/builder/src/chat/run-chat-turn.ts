import {
  type Agent,
  type AgentSessionHandle,
  type AgentTurn,
  type AgentTurnEvent,
  type AgentTurnOptions,
  type AgentTurnResult,
  encodeAgentSessionHandle,
  isContinuationError,
  isTurnError,
  type Message,
  NonContinuableError,
  type TurnStage,
} from '@holdfast/agent';
import type { ChatContext } from './chat-context.js';
import { deskOf } from './chat-desk.js';
import { UnknownChatError } from './chat-error.js';
import type { ChatLog } from './chat-log.js';
import type { ChatTurnResult } from './chat-turn-result.js';
import type { ChatView } from './chat-view.js';
import { createChatAgent } from './create-chat-agent.js';
import { keepChatSession } from './keep-chat-session.js';
import { keepTurnEvents } from './keep-turn-events.js';
import { markOpen, unmarkOpen } from './open-chats.js';

interface ChatTurnRequest {
  /** Open, with the chat's lease. */
  readonly log: ChatLog;
  readonly stage: TurnStage;
  readonly turnId: string;
  readonly message: Message;
  readonly options: Omit<AgentTurnOptions, 'turnId' | 'onBeforeNativeChange'>;
  /** Awaited once the provider took the message in, where it told so before the turn's end. */
  readonly onTaken?: (() => Promise<void>) | undefined;
}

/** Runs one turn of a chat to its end. Each step is on disk before the next one begins. */
export async function runChatTurn(
  context: ChatContext,
  request: ChatTurnRequest,
): Promise<ChatTurnResult> {
  const { log, stage, turnId } = request;
  const view = getView(log);
  checkHasSession(view);
  stage.waiting.throwIfAborted();
  await owe(context, request);
  const first = await tryTurn(context, request, view);
  const outcome =
    isNeverBegun(first) && canBeginAnew(view, turnId)
      ? await tryTurn(context, request, { ...view, handle: undefined })
      : first;
  if (outcome.status === 'rejected') {
    await settleFailed(log, turnId, outcome.reason);
    await unmarkOpen(context, view.chatId);
    throw outcome.reason;
  }
  await settleCompleted(log, turnId, outcome.value);
  await unmarkOpen(context, view.chatId);
  return { ...outcome.value, turnId, chatId: view.chatId };
}

/** One try of the turn, in the session of the view's handle or in a new one. What is known of it is in the log when it resolves. */
async function tryTurn(
  context: ChatContext,
  request: ChatTurnRequest,
  view: ChatView,
): Promise<PromiseSettledResult<AgentTurnResult>> {
  const { log, stage } = request;
  await using agent = createChatAgent(context, view);
  const turn = startAgentTurn(agent, view, request);
  stage.follow(turn);
  const events = keepTurnEvents(log, turn);
  const taken = tellTaken(turn, request.onTaken);
  const known = turn.handle.then(async (handle) => {
    await keepHandle(log, handle);
    stage.publishHandle(handle);
  });
  const steerable = letSteer(context, request, turn);
  const [outcome, kept] = await Promise.allSettled([turn, events, known, taken]);
  await steerable.end();
  await keepHandle(log, agent.currentAgentSessionHandle());
  await keepChatSession(context, view, agent);
  if (kept.status === 'rejected') throw kept.reason;
  return outcome;
}

function isNeverBegun(outcome: PromiseSettledResult<unknown>): boolean {
  if (outcome.status === 'fulfilled' || !isContinuationError(outcome.reason)) return false;
  const { reason } = outcome;
  return reason.kind === 'non_continuable' && reason.missing === 'acknowledged_turn';
}

/**
 * Whether nothing was said in the chat yet, by its log: then a session that no message ever came into is nothing to go on with,
 * and must not keep later messages out. Where nobody knows what became of a message, it may have been said.
 */
function canBeginAnew({ handle, legacy, turns }: ChatView, turnId: string): boolean {
  if (!handle || legacy) return false;
  const others = turns.filter((one) => one.turnId !== turnId);
  return others.every(({ state, error }) => {
    return state === 'failed' && error !== undefined && error.kind !== 'uncertain_delivery';
  });
}

/** A new session for an imported chat would be a silent fresh start of a conversation that is not empty. */
function checkHasSession({ handle, legacy }: ChatView): void {
  if (handle || !legacy) return;
  throw new NonContinuableError('unknown', 'native_session_id', 'the imported chat names none');
}

/** The message and its turn id, before anything is sent. */
async function owe(context: ChatContext, { log, turnId, message }: ChatTurnRequest): Promise<void> {
  const view = getView(log);
  const isOpen = view.turns.some((one) => one.turnId === turnId && one.state === 'open');
  await markOpen(context, view.chatId);
  if (!isOpen) await log.append({ type: 'turn_started', turnId, message });
}

function startAgentTurn(
  agent: Agent,
  view: ChatView,
  { turnId, message, options, stage }: ChatTurnRequest,
): AgentTurn {
  const { whenBusy, onInterrupted, draft, signal } = options;
  const turnOptions = { turnId, whenBusy, onInterrupted, draft, signal };
  stage.waiting.throwIfAborted();
  if (view.handle) return agent.continueAgentSession(view.handle, message, turnOptions);
  return agent.askWithHistory([{ role: 'user', content: message }], turnOptions);
}

/** Lets others of this process put something into the turn. */
function letSteer(
  { store }: ChatContext,
  { log, turnId }: ChatTurnRequest,
  turn: AgentTurn,
): { readonly end: () => Promise<void> } {
  const desk = deskOf(store, getView(log).chatId);
  const running = { turnId, log, steer: (text: string) => turn.steer(text) };
  desk.running = running;
  return {
    end: async () => {
      if (desk.running === running) desk.running = undefined;
      // What they have to say of it goes into the log while it is open.
      await Promise.allSettled(desk.steering);
    },
  };
}

async function tellTaken(turn: AgentTurn, onTaken: ChatTurnRequest['onTaken']): Promise<void> {
  if (onTaken && (await hasBegun(turn))) await onTaken();
}

/** Resolves once the provider took the message in, or with `false` when the turn ended without such a word. */
export async function hasBegun(turn: AsyncIterable<AgentTurnEvent>): Promise<boolean> {
  try {
    for await (const { type } of turn) if (type === 'running') return true;
  } catch {
    // The turn's own error, which whoever awaits it gets.
  }
  return false;
}

async function keepHandle(log: ChatLog, handle: AgentSessionHandle | undefined): Promise<void> {
  const known = log.view()?.handle;
  if (!handle || (known && isSameHandle(known, handle))) return;
  await log.append({ type: 'handle_changed', handle });
}

function isSameHandle(one: AgentSessionHandle, other: AgentSessionHandle): boolean {
  const text = (handle: AgentSessionHandle) => JSON.stringify(encodeAgentSessionHandle(handle));
  return text(one) === text(other);
}

async function settleCompleted(
  log: ChatLog,
  turnId: string,
  { answer, usage, stopReason, recovered }: AgentTurnResult,
): Promise<void> {
  await log.append({ type: 'turn_completed', turnId, answer, usage, stopReason, recovered });
}

async function settleFailed(log: ChatLog, turnId: string, error: unknown): Promise<void> {
  // Only a typed error settles: behind any other one the turn stays owed.
  if (!isTurnError(error) && !isContinuationError(error)) throw error;
  await log.append({ type: 'turn_failed', turnId, error: error.toJSON() });
}

function getView(log: ChatLog): ChatView {
  const view = log.view();
  if (!view) throw new UnknownChatError(log.events[0]?.chatId ?? 'unknown');
  return view;
}

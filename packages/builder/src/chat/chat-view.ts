import {
  type AgentSessionHandle,
  type ErrorJson,
  type Message,
  textsOf,
  type Usage,
} from '@holdfast/agent';
import { archiveTerminals, openTerminal, type TerminalGroup } from '../terminals/terminal-group.js';
import type { ChatEvent } from './chat-event.js';
import type { ChatMessage, LegacyChat } from './legacy-chat.js';

/** One turn of a chat, as far as it came. */
export interface ChatTurnRecord {
  readonly turnId: string;
  readonly message: Message;
  readonly startedAt: string;
  readonly state: 'open' | 'completed' | 'failed';
  readonly answer?: string | undefined;
  readonly usage?: Usage | undefined;
  readonly stopReason?: string | undefined;
  readonly recovered?: boolean | undefined;
  readonly error?: ErrorJson | undefined;
}

/** What became of one posted message, as far as the log tells. */
export interface ChatDeliveryRecord {
  readonly messageId: string;
  readonly status: 'queued' | 'steered';
  /** Its own turn, or the one it was put into. */
  readonly turnId: string;
  /** What was put into a running turn. */
  readonly message?: Message | undefined;
  readonly outcome?: 'confirmed' | 'failed' | 'uncertain' | undefined;
}

/** What a chat is now, derived from its log alone. */
export interface ChatView {
  readonly chatId: string;
  /** The id under which `createBuilder` was given the agent. */
  readonly agent: string;
  readonly title?: string | undefined;
  /** `running` while a turn is open, in this process or left by one that died. */
  readonly status: 'idle' | 'running' | 'closed';
  readonly messages: readonly ChatMessage[];
  /** Oldest first. */
  readonly turns: readonly ChatTurnRecord[];
  /** The posted messages that did not begin a turn at once, oldest first. */
  readonly deliveries: readonly ChatDeliveryRecord[];
  /** Opaque: hand it back to an agent. */
  readonly handle?: AgentSessionHandle | undefined;
  readonly terminals: TerminalGroup;
  /** Set on a chat that was taken over from an older system. */
  readonly legacy?: LegacyChat | undefined;
  readonly openedAt: string;
  readonly updatedAt: string;
}

/** Folds a chat's events, in order, into what it is. `undefined` for a chat that was never opened. Pure. */
export function foldChat(events: readonly ChatEvent[]): ChatView | undefined {
  return events.reduce<ChatView | undefined>(applyChatEvent, undefined);
}

/** Takes one more event into a view. Pure. */
export function applyChatEvent(view: ChatView | undefined, event: ChatEvent): ChatView | undefined {
  if (event.type === 'chat_opened') return view ?? openedView(event);
  return view && { ...view, ...changeOf(view, event), updatedAt: event.at };
}

function openedView({
  chatId,
  agent,
  title,
  at,
}: Extract<ChatEvent, { readonly type: 'chat_opened' }>): ChatView {
  return {
    chatId,
    agent,
    title,
    status: 'idle',
    messages: [],
    turns: [],
    deliveries: [],
    terminals: { ownerId: chatId, terminals: [] },
    openedAt: at,
    updatedAt: at,
  };
}

function changeOf(view: ChatView, event: ChatEvent): Partial<ChatView> {
  switch (event.type) {
    case 'chat_opened':
      return {};
    case 'chat_imported':
      return { legacy: event.record, messages: event.messages };
    case 'turn_started':
      return startTurn(view, event);
    case 'handle_changed':
      return { handle: event.handle };
    case 'turn_event':
      return event.event.type === 'terminal_opened'
        ? { terminals: openTerminal(view.terminals, { ...event.event, at: event.at }) }
        : {};
    case 'turn_completed':
      return completeTurn(view, event);
    case 'turn_failed':
      return settleTurn(view, event.turnId, { state: 'failed', error: event.error });
    case 'message_queued':
      return queueMessage(view, event);
    case 'message_steered':
      return steerMessage(view, event);
    case 'message_confirmed':
      return confirmMessage(view, event);
    case 'chat_closed':
      return { status: 'closed', terminals: archiveTerminals(view.terminals, event.at) };
  }
}

function startTurn(
  view: ChatView,
  { turnId, message, at }: Extract<ChatEvent, { readonly type: 'turn_started' }>,
): Partial<ChatView> {
  if (view.turns.some((one) => one.turnId === turnId)) {
    return { ...settleTurn(view, turnId, { state: 'open', error: undefined }), status: 'running' };
  }
  const text = textsOf(message).join('');
  return {
    status: 'running',
    turns: [...view.turns, { turnId, message, startedAt: at, state: 'open' }],
    messages: [...view.messages, { role: 'user', text, turnId, at }],
  };
}

function completeTurn(
  view: ChatView,
  {
    turnId,
    answer,
    usage,
    stopReason,
    recovered,
    at,
  }: Extract<ChatEvent, { readonly type: 'turn_completed' }>,
): Partial<ChatView> {
  const end = { state: 'completed', answer, usage, stopReason, recovered } as const;
  const others = view.messages.filter((one) => one.turnId !== turnId || one.role === 'user');
  const question = others.findLastIndex((one) => one.turnId === turnId);
  // Behind its own question and what was put into it: a turn may be gone on with after later ones.
  const messages = others.toSpliced(question + 1, 0, {
    role: 'assistant',
    text: answer,
    turnId,
    at,
  });
  return { ...settleTurn(view, turnId, end), messages };
}

function settleTurn(
  view: ChatView,
  turnId: string,
  change: Partial<ChatTurnRecord>,
): Partial<ChatView> {
  const turns = view.turns.map((one) => (one.turnId === turnId ? { ...one, ...change } : one));
  const status = turns.some((one) => one.state === 'open') ? 'running' : 'idle';
  return { turns, status };
}

function queueMessage(
  view: ChatView,
  { messageId, turnId }: Extract<ChatEvent, { readonly type: 'message_queued' }>,
): Partial<ChatView> {
  return {
    deliveries: [...otherDeliveries(view, messageId), { messageId, turnId, status: 'queued' }],
  };
}

function steerMessage(
  view: ChatView,
  { messageId, turnId, message, at }: Extract<ChatEvent, { readonly type: 'message_steered' }>,
): Partial<ChatView> {
  const text = textsOf(message).join('');
  const delivery: ChatDeliveryRecord = { messageId, turnId, message, status: 'steered' };
  return {
    deliveries: [...otherDeliveries(view, messageId), delivery],
    messages: [...view.messages, { role: 'user', text, turnId, at, messageId }],
  };
}

function confirmMessage(
  view: ChatView,
  { messageId, turnId, outcome }: Extract<ChatEvent, { readonly type: 'message_confirmed' }>,
): Partial<ChatView> {
  const deliveries = view.deliveries.map((one) =>
    one.messageId === messageId && one.turnId === turnId ? { ...one, outcome } : one,
  );
  // What surely did not come in was not said in that turn.
  const messages = view.messages.filter(
    (one) => outcome !== 'failed' || one.messageId !== messageId || one.turnId !== turnId,
  );
  return { deliveries, messages };
}

function otherDeliveries(view: ChatView, messageId: string): readonly ChatDeliveryRecord[] {
  return view.deliveries.filter((one) => one.messageId !== messageId);
}

/** Whether a turn of that id ever began in the chat. Pure. */
export function hasTurn(view: ChatView, turnId: string): boolean {
  return view.turns.some((one) => one.turnId === turnId);
}

/** The turn a crash left open, where there is one. Pure. */
export function findOpenTurn(view: ChatView): ChatTurnRecord | undefined {
  return view.turns.find((one) => one.state === 'open');
}

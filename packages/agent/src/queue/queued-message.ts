import type { Message } from '@holdfast/provider-core';
import type { AgentSessionHandle } from '../agent-session-handle.js';

/** One message that waits on disk for its turn. */
export interface QueuedMessage {
  readonly turnId: string;
  readonly message: Message;
  readonly enqueuedAt: string;
}

/** What stands in an agent's queue file. */
export interface QueueState {
  /** Oldest first. */
  readonly messages: readonly QueuedMessage[];
  /** The session they are for, once there is one: a new process continues it and starts no other. */
  readonly handle?: AgentSessionHandle | undefined;
}

/** Adds a message at the end; one that waits already under the same id stays where it is. Pure. */
export function addMessage(state: QueueState, message: QueuedMessage): QueueState {
  const isThere = state.messages.some(({ turnId }) => turnId === message.turnId);
  return isThere ? state : { ...state, messages: [...state.messages, message] };
}

/** Takes a message out. Pure. */
export function removeMessage(state: QueueState, turnId: string): QueueState {
  return { ...state, messages: state.messages.filter((one) => one.turnId !== turnId) };
}

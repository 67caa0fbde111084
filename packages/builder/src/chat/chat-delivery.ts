import type { Message } from '@holdfast/agent';

/** What became of a posted message when `post` returned. */
export interface ChatDelivery {
  /**
   * `started_turn`: its own turn began; `steered`: the running turn took it in; `queued`: it waits, on disk, for a turn of its own;
   * `uncertain`: it left us and nothing says what became of it, and it goes no second way.
   */
  readonly status: 'started_turn' | 'steered' | 'queued' | 'uncertain';
  /** The turn it belongs to: its own, or the one it was put into. */
  readonly turnId: string;
  /** Ties later events of the chat's log to it. */
  readonly messageId: string;
  /** One clause, for people. */
  readonly detail: string;
}

/** How a message is posted. */
export interface PostOptions {
  /**
   * What to do while the chat is busy: keep it for a turn of its own (`queue`), put it into the running turn where that is possible
   * and keep it otherwise (`steer`), or `fail` with `session_busy`.
   */
  readonly policy: 'queue' | 'steer' | 'fail';
  /** The caller's idempotency key, a UUID; made when absent. It becomes the message id, and the id of its own turn. */
  readonly turnId?: string | undefined;
}

/** One message on its way into a chat. */
export interface PostedMessage {
  readonly chatId: string;
  readonly messageId: string;
  readonly message: Message;
}

import type {
  AgentSessionHandle,
  AgentTurnEvent,
  ErrorJson,
  Message,
  Usage,
} from '@holdfast/agent';
import type { ChatMessage, LegacyChat } from './legacy-chat.js';

/** Carried by every event of a chat's log. */
export interface ChatEventStamp {
  readonly chatId: string;
  /** From 0, without gaps within one chat. */
  readonly sequence: number;
  /** ISO 8601, for people. */
  readonly at: string;
}

/** What happens in a chat, in the order it became durable. */
export type ChatEventBody =
  | { readonly type: 'chat_opened'; readonly agent: string; readonly title?: string | undefined }
  /** A chat of an older system was taken over; it follows `chat_opened`. */
  | {
      readonly type: 'chat_imported';
      readonly record: LegacyChat;
      readonly messages: readonly ChatMessage[];
    }
  /** Written before anything is sent, and again when a failed turn is gone on with. */
  | { readonly type: 'turn_started'; readonly turnId: string; readonly message: Message }
  | { readonly type: 'handle_changed'; readonly handle: AgentSessionHandle }
  /** What the agent told meanwhile, wrapped. Deltas are not kept. */
  | { readonly type: 'turn_event'; readonly turnId: string; readonly event: AgentTurnEvent }
  | {
      readonly type: 'turn_completed';
      readonly turnId: string;
      readonly answer: string;
      readonly usage?: Usage | undefined;
      readonly stopReason: string;
      readonly recovered: boolean;
    }
  /** The turn waits for the same `turnId` to be sent again, unless its error is final. */
  | { readonly type: 'turn_failed'; readonly turnId: string; readonly error: ErrorJson }
  /** The message waits for a turn of its own; it may be told of only when that turn is about to begin. */
  | { readonly type: 'message_queued'; readonly messageId: string; readonly turnId: string }
  /** Written before the message is put into the running turn. */
  | {
      readonly type: 'message_steered';
      readonly messageId: string;
      /** The turn that runs. */
      readonly turnId: string;
      readonly message: Message;
    }
  /**
   * What became of a posted message. `confirmed`: the provider took it in; `failed`: it surely did not, and a steered one waits for
   * a turn of its own from then on; `uncertain`: nobody knows, and it is not sent again.
   */
  | {
      readonly type: 'message_confirmed';
      readonly messageId: string;
      readonly turnId: string;
      readonly outcome: 'confirmed' | 'failed' | 'uncertain';
    }
  | { readonly type: 'chat_closed'; readonly archived: boolean };

/** One line of a chat's log. */
export type ChatEvent = ChatEventBody & ChatEventStamp;

import type { CodingProviderSessionHandle } from './provider-session-handle.js';

/** Why a provider ended a turn as failed. */
export type FailureReason =
  | 'overloaded'
  | 'context_too_long'
  | 'refusal'
  | 'model_not_found'
  | 'broken_stream'
  | 'billing'
  | 'unknown';

/** Tokens of one turn, as the provider reported them. */
export interface Usage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cacheReadTokens?: number | undefined;
  readonly cacheWriteTokens?: number | undefined;
  /** US dollars, where the provider gives a cost. */
  readonly costUsd?: number | undefined;
}

/** Who holds a session. */
export type SessionOwner =
  | {
      readonly kind: 'ours';
      readonly pid?: number | undefined;
      readonly hostId?: string | undefined;
      readonly since?: string | undefined;
    }
  | { readonly kind: 'foreign'; readonly pid?: number | undefined }
  | { readonly kind: 'person' };

/** What is known of a message whose delivery is uncertain. */
export interface DeliveryEvidence {
  /** One clause, for people. */
  readonly what: string;
  readonly journal: string;
  readonly record: string;
  readonly process: string;
}

/** An image, as bytes in base64. Providers say in their capabilities whether they take one. */
export interface ImagePart {
  readonly type: 'image';
  /** `image/png`, `image/jpeg`, `image/gif` or `image/webp`. */
  readonly mediaType: string;
  /** Base64. */
  readonly data: string;
}

/** One part of a message. A part a provider cannot take is a typed error, never dropped. */
export type MessagePart = { readonly type: 'text'; readonly text: string } | ImagePart;

/** What the user said. */
export type Message = string | readonly MessagePart[];

/** What a completed turn gives. */
export interface TurnResult {
  readonly answer: string;
  readonly handle: CodingProviderSessionHandle;
  readonly turnId: string;
  /** Of this turn alone, right after a resume too. */
  readonly usage?: Usage | undefined;
  /** Of the whole session, as far as the provider's record tells. */
  readonly sessionUsage?: Usage | undefined;
  /** The provider's own reason for stopping, `end_turn` where it gives none. */
  readonly stopReason: string;
  /** Whether the session's terminal or process had to be brought back. */
  readonly recovered: boolean;
}

/** What became of a text that was put into a running turn. */
export interface SteerResult {
  /**
   * `accepted`: the running turn took it in; `queued`: the CLI keeps it and runs it as a turn of its own; `refused`: nothing
   * was put in; `unknown`: it left us and nothing says what became of it.
   */
  readonly outcome: 'accepted' | 'queued' | 'refused' | 'unknown';
  /** One clause, for people. */
  readonly detail: string;
}

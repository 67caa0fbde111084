import type { CodingProviderSessionHandle } from './provider-session-handle.js';

/** Why a provider ended a turn as failed. */
export type FailureReason =
  | 'overloaded'
  | 'context_too_long'
  | 'refusal'
  | 'model_not_found'
  | 'broken_stream'
  | 'unknown';

/** Tokens of one turn, as the provider reported them. */
export interface Usage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cacheReadTokens?: number | undefined;
  readonly cacheWriteTokens?: number | undefined;
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

/** One part of a message. */
export type MessagePart = { readonly type: 'text'; readonly text: string };

/** What the user said. */
export type Message = string | readonly MessagePart[];

/** What a completed turn gives. */
export interface TurnResult {
  readonly answer: string;
  readonly handle: CodingProviderSessionHandle;
  readonly turnId: string;
  readonly usage?: Usage | undefined;
  /** The provider's own reason for stopping, `end_turn` where it gives none. */
  readonly stopReason: string;
  /** Whether the session's terminal or process had to be brought back. */
  readonly recovered: boolean;
}

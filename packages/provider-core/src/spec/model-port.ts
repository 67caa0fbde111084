import type { ImagePart, Usage } from './turn.js';

/**
 * One model behind an API. A step is one request: it streams what the model says and ends with what it wants done.
 * It never runs a tool and never repeats a request by itself.
 */
export interface ModelPort {
  readonly provider: string;
  readonly model: string;
  /**
   * Runs one step. Ends with exactly one `finished`; a failure is thrown as a typed `CodingAgentTurnError`
   * (`rate_limited`, `auth_required`, `provider_failed`, `history_rejected`); an abort throws the signal's reason. A
   * refusal and an empty text are `finished` too, as their tokens count; the caller takes neither for an answer.
   */
  readonly step: (request: ModelStepRequest) => AsyncIterable<ModelStepEvent>;
}

/** All that one step needs; the whole conversation goes along every time. */
export interface ModelStepRequest {
  readonly system?: string | undefined;
  readonly messages: readonly ModelMessage[];
  readonly tools: readonly ModelTool[];
  readonly signal: AbortSignal;
  /** 4096 when absent. */
  readonly maxOutputTokens?: number | undefined;
}

/** One entry of a conversation, neutral over vendors; what is stored on disk. JSON-safe. */
export type ModelMessage =
  | { readonly role: 'user'; readonly content: readonly ModelUserPart[] }
  | { readonly role: 'assistant'; readonly content: readonly ModelAssistantPart[] }
  | {
      readonly role: 'tool';
      readonly callId: string;
      readonly toolName: string;
      readonly output: string;
      readonly isError: boolean;
    };

/** One part of what the user said. */
export type ModelUserPart = { readonly type: 'text'; readonly text: string } | ImagePart;

/** One part of what the model said, in its own order. */
export type ModelAssistantPart =
  | { readonly type: 'text'; readonly text: string }
  | ModelToolCall
  /** What the vendor wants back with the next request (a reasoning signature, …); opaque to us. */
  | { readonly type: 'opaque'; readonly vendor: string; readonly value: unknown };

/** What the model wants done; somebody else does it. */
export interface ModelToolCall {
  readonly type: 'tool_call';
  readonly callId: string;
  readonly toolName: string;
  /** As the model gave it; JSON-safe. */
  readonly input: unknown;
}

/** A tool the model may ask for. */
export interface ModelTool {
  readonly name: string;
  readonly description?: string | undefined;
  /** JSON Schema of the input. */
  readonly inputSchema: Readonly<Record<string, unknown>>;
}

/** What a step tells while it runs, and its end. */
export type ModelStepEvent =
  | { readonly type: 'text_delta'; readonly text: string }
  | {
      readonly type: 'finished';
      /** What the model said, whole, to be appended to the conversation. */
      readonly content: readonly ModelAssistantPart[];
      readonly usage?: Usage | undefined;
      /** `end_turn`, `tool_calls`, `max_tokens`, `refusal`, or the vendor's own word. */
      readonly stopReason: string;
    };

/** What an API provider is reached with. */
export interface ModelConfig {
  /** The vendor's model name. */
  readonly model: string;
  /** A value, or the name of a variable of the service's own environment. */
  readonly apiKey?: string | { readonly env: string } | undefined;
  /** A gateway or the scripted model in place of the vendor's own address, as the vendor's package takes it (`…/v1`). */
  readonly baseUrl?: string | undefined;
  readonly maxOutputTokens?: number | undefined;
}

/** What a provider folder of a model API declares. It keeps no session: history is the agent's. */
export interface ModelProviderDefinition<Id extends string = string> {
  readonly kind: 'model';
  readonly id: Id;
  readonly displayName: string;
  /** The optional peer that speaks the vendor's wire; loaded at the first use. */
  readonly package: string;
  /** Loads the peer and makes the port; a missing peer is `cli_unusable` with the package to install. */
  readonly openModel: (config: ModelConfig) => Promise<ModelPort>;
}

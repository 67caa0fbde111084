import type { SessionOwner } from '../executions/execution-owner.js';
import type { JsonValue } from '../persistence/store.js';

/** What a session asks for with `call_sub_agent`. */
export interface SubAgentCall {
  readonly agent: string;
  readonly prompt: string;
  /** Whether the caller's session is told of the end; true when absent. */
  readonly notify?: boolean | undefined;
  /** Whether it goes on when the caller ends or is stopped; false when absent. */
  readonly background?: boolean | undefined;
  /** The same key again is the same execution. */
  readonly key?: string | undefined;
}

/** What an execution keeps of the call that began it, as its input. */
export interface SubAgentCallRecord {
  readonly calledBy: SessionOwner;
  /** Of everything that was asked for: a key that is used again for something else is told apart by it. */
  readonly callDigest: string;
  readonly key?: string | undefined;
}

/** What a tool gives: a value, or why it does nothing. */
export type ToolAnswer =
  | { readonly value: JsonValue; readonly refusal?: undefined }
  | { readonly refusal: string };

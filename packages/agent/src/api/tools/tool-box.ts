import type { ModelTool } from '@holdfast/provider-core';

/** What a tool's own server says of it: hints, which loosen nothing but what their caller chose to trust. */
export interface ToolTraits {
  readonly isReadOnly: boolean;
  /** Calling it again with the same input changes nothing more. */
  readonly isIdempotent: boolean;
}

/** A tool the model may ask for, and what is known of it. */
export interface BoxedTool extends ModelTool {
  readonly traits: ToolTraits;
}

/** What a call gave. */
export interface ToolResult {
  readonly output: string;
  readonly isError: boolean;
}

/** How one call is made. */
export interface CallOptions {
  readonly signal: AbortSignal;
  /** How long the tool may give no sign. */
  readonly inactivityMs: number;
}

/** The tools of one session. Servers stay connected between turns, until `close`. */
export interface ToolBox {
  /** Connects what is not connected; a server that cannot be reached is a `cli_unusable` error. */
  readonly open: (signal: AbortSignal) => Promise<readonly BoxedTool[]>;
  /** Makes one call. What goes wrong with the tool is a result; only the signal's abort is thrown. */
  readonly call: (name: string, input: unknown, options: CallOptions) => Promise<ToolResult>;
  /** Ends every connection and every process behind one; tells how many processes there were. */
  readonly close: () => Promise<number>;
}

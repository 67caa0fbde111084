import type {
  Lease,
  ModelPort,
  ModelUserPart,
  ResolvedTurnOptions,
  TurnEventBody,
} from '@holdfast/provider-core';
import type { ApiAgentConfig } from './api-config.js';
import type { BoxedTool, ToolBox } from './tools/tool-box.js';
import type { TranscriptFile } from './transcript-file.js';
import type { TranscriptBody } from './transcript-record.js';
import type { TurnState } from './transcript-state.js';

/** What a running turn of an API agent works with. */
export interface TurnContext {
  readonly turnId: string;
  readonly message: readonly ModelUserPart[];
  readonly messageDigest: string;
  readonly config: ApiAgentConfig;
  readonly model: ModelPort;
  readonly tools: ReadonlyMap<string, BoxedTool>;
  readonly toolBox: ToolBox;
  readonly transcript: TranscriptFile;
  readonly lease: Lease;
  readonly options: ResolvedTurnOptions;
  /** The caller's signal or its `interrupt()`. */
  readonly signal: AbortSignal;
  readonly emit: (event: TurnEventBody) => void;
  /** An earlier attempt left the turn unfinished. */
  readonly recovered: boolean;
}

/** Adds a line to the running turn's transcript; durable unless said otherwise. */
export function record(
  { transcript, lease }: TurnContext,
  body: TranscriptBody,
  { sync = true }: { readonly sync?: boolean } = {},
): Promise<void> {
  return transcript.append(body, lease, { sync });
}

/** The running turn as its transcript has it. */
export function turnOf({ transcript, turnId }: TurnContext): TurnState | undefined {
  return transcript.state.turn(turnId);
}

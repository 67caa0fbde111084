import type { DecidedBy } from './host-request.js';
import type { CodingProviderSessionHandle } from './provider-session-handle.js';
import type { Usage } from './turn.js';

/** Carried by every event of a turn. */
export interface TurnEventStamp {
  readonly turnId: string;
  /** From 0, without gaps within one turn. */
  readonly sequence: number;
  /** ISO 8601, for people. */
  readonly at: string;
}

/** What happens to the provider's transport while a turn runs. Exactly one of the last four ends it. */
export type LifecycleEvent =
  | { readonly type: 'resuming' }
  | { readonly type: 'running' }
  | { readonly type: 'lost_tmux'; readonly tmuxSession?: string | undefined }
  | { readonly type: 'completed'; readonly handle: CodingProviderSessionHandle }
  | { readonly type: 'failed'; readonly kind: string; readonly message: string }
  | { readonly type: 'resume_unavailable'; readonly missing: string }
  | { readonly type: 'stale_handle'; readonly changedField: string };

/** What the provider does within a turn. */
export type ContentEvent =
  | { readonly type: 'text_delta'; readonly text: string }
  | { readonly type: 'answer'; readonly text: string; readonly final: false }
  | { readonly type: 'tool_started'; readonly name: string; readonly callId: string }
  | { readonly type: 'tool_finished'; readonly name: string; readonly callId: string }
  | {
      readonly type: 'command_finished';
      readonly callId: string;
      readonly command: string;
      readonly exitCode: number;
    }
  | {
      readonly type: 'approval_requested';
      readonly detail: string;
      /** Absent where the provider only tells that it waits. */
      readonly requestId?: string | undefined;
      readonly toolName?: string | undefined;
    }
  | {
      readonly type: 'approval_settled';
      readonly requestId: string;
      readonly decision: 'allow' | 'deny' | 'answer';
      readonly by: DecidedBy;
    }
  | { readonly type: 'usage'; readonly usage: Usage }
  | { readonly type: 'compaction_started' }
  | { readonly type: 'compaction_finished' }
  | { readonly type: 'terminal_opened'; readonly terminalId: string; readonly label: string }
  | { readonly type: 'quiescent' }
  /** A turn that nobody asked for ended: background work of the CLI reported back. */
  | { readonly type: 'background_turn'; readonly answer: string }
  | { readonly type: 'foreign_turn' }
  | { readonly type: 'notice'; readonly text: string };

/** An event before it has its turn, sequence and time. */
export type TurnEventBody = LifecycleEvent | ContentEvent;

/** One event of a turn, as it is emitted and journaled. */
export type TurnEvent = TurnEventBody & TurnEventStamp;

/** Tells whether the event is the last of its turn. */
export function isFinalEvent(event: TurnEventBody): boolean {
  return FINAL_TYPES.has(event.type);
}

const FINAL_TYPES: ReadonlySet<string> = new Set([
  'completed',
  'failed',
  'resume_unavailable',
  'stale_handle',
]);

/** Emits one event of the running turn. */
export type EmitTurnEvent = (event: TurnEventBody) => void;

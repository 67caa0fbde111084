import type { FailureReason, Usage } from './turn.js';

/** What a provider itself recorded. The turn machine believes nothing else. */
export type RecordEvent =
  | { readonly type: 'session_opened'; readonly nativeSessionId: string }
  | {
      readonly type: 'message_accepted';
      /** The exact text as the provider recorded it. */
      readonly text: string;
      /** The id we gave the message, where the provider records one. */
      readonly clientMessageId?: string | undefined;
      readonly nativeTurnId?: string | undefined;
      /** `user` for what was typed or sent; `background` for a turn nobody asked for. */
      readonly origin: 'user' | 'background';
    }
  | { readonly type: 'message_blocked'; readonly text: string; readonly reason: string }
  | { readonly type: 'text'; readonly text: string; readonly partial: boolean }
  | {
      readonly type: 'tool_started' | 'tool_finished';
      readonly name: string;
      readonly callId: string;
    }
  /** Where the provider itself tells a command with its exit code; beside `tool_finished`. */
  | {
      readonly type: 'command_finished';
      readonly callId: string;
      readonly command: string;
      readonly exitCode: number;
    }
  | {
      readonly type: 'waiting';
      readonly on: 'permission' | 'question' | 'dialog';
      readonly detail?: string | undefined;
    }
  | {
      readonly type: 'compaction_started' | 'compaction_finished';
      /** The provider's own id of it, by which a record and a frame tell of the same. */
      readonly compactionId?: string | undefined;
    }
  | {
      readonly type: 'turn_ended';
      readonly answer: string;
      /** Of this turn alone. */
      readonly usage?: Usage | undefined;
      /** Of the session up to here. */
      readonly sessionUsage?: Usage | undefined;
      readonly stopReason?: string | undefined;
      /** Work the CLI left running behind the turn's end, as far as its record tells. */
      readonly backgroundWork: number;
      /** `background` for the end of a turn nobody asked for. */
      readonly origin?: 'user' | 'background' | undefined;
      /** The record's row that says the answer, where another one tells that it is one. */
      readonly rowId?: string | undefined;
      readonly nativeTurnId?: string | undefined;
    }
  | {
      readonly type: 'turn_failed';
      readonly reason: FailureReason | 'rate_limited' | 'auth_required' | 'history_rejected';
      readonly detail: string;
      /** ISO 8601 instant at which a limit ends. */
      readonly resetAt?: string | undefined;
      readonly nativeTurnId?: string | undefined;
    }
  | { readonly type: 'turn_interrupted'; readonly nativeTurnId?: string | undefined }
  /** The branch that held the messages seen so far is no longer the active one. */
  | { readonly type: 'branch_abandoned' };

/** Where the provider's record ended when a message was about to be sent. */
export interface RecordCursor {
  /** Absolute path of the record; absent when the provider had not made one yet. */
  readonly path?: string | undefined;
  /** Device and inode, `dev:ino`, so that a replaced file is seen. */
  readonly fileId?: string | undefined;
  /** Length in bytes. */
  readonly length: number;
  /** The id of the last record, where the provider gives records ids. */
  readonly lastRecordId?: string | undefined;
}

import type { LaunchPlan, LaunchRequest } from './launch-plan.js';
import type { RecordEvent } from './record-event.js';
import type { PermissionLevel } from './session-config.js';
import type { ImagePart, Usage } from './turn.js';
import type { RecordReader, TypedPane } from './typed-pane.js';

/**
 * A CLI driven as one persistent process that reads and writes JSON lines. Data and pure functions only: the
 * stream-process transport starts the process, writes, reads and ends it.
 */
export interface StreamProcess
  extends Pick<TypedPane, 'approvals' | 'readRegistry' | 'holdsConversation' | 'planResumeMark'> {
  readonly kind: 'stream_process';
  readonly launch: (request: LaunchRequest) => LaunchPlan;
  readonly files: Pick<TypedPane['files'], 'record' | 'registryFolder'> & {
    /** Name, inside the session's private folder, of a file that its hooks write as it starts. */
    readonly startSign: string;
  };
  /**
   * Reads rows of the record, in file order. It may tell an end more than once as a turn grows: the last one counts, and
   * only once the turn is over.
   */
  readonly createRecordReader: () => RecordReader;
  /** Counts the tokens of a record, row by row. */
  readonly createUsageCounter: () => UsageCounter;
  readonly planMessage: (message: StreamMessage) => StreamMessagePlan;
  readonly write: StreamWriter;
  /** What one line of the process's output says. */
  readonly readFrame: (frame: unknown) => readonly StreamSign[];
  /** Why a process that ended at once could not resume, by its last words; absent when it is another reason. */
  readonly readMissingHistory: (lastWords: string) => string | undefined;
}

/** Adds up the tokens of a session. */
export interface UsageCounter {
  readonly push: (row: unknown) => void;
  readonly total: () => Usage | undefined;
}

/** A message of ours, by the id that the record keeps. */
export interface StreamMessage {
  readonly id: string;
  readonly text: string;
  readonly images: readonly ImagePart[];
  readonly cliVersion: string;
}

/** The line that puts a message in exactly, or why none can. */
export type StreamMessagePlan =
  | {
      readonly kind: 'line';
      readonly line: string;
      /** Paths whose content the CLI would add, if there is a file of that name. */
      readonly mentionedPaths: readonly string[];
    }
  | { readonly kind: 'refused'; readonly reason: string; readonly detail: string };

/** The lines that ask the process for something; each is answered by a {@link StreamSign} with its request id. */
export interface StreamWriter {
  readonly interrupt: (requestId: string) => string;
  /** Takes a message back that still waits behind a turn. */
  readonly takeBack: (requestId: string, messageId: string) => string;
  readonly setPermissions: (requestId: string, permissions: PermissionLevel) => string;
  /** Asks what the process counts as spent, which after a resume may be more than its own turns. */
  readonly askCost: (requestId: string) => string;
}

/** What the process says of itself and its turn. Fast, and true of the record only once it stands there. */
export type StreamSign =
  | { readonly type: 'record'; readonly event: RecordEvent }
  | {
      readonly type: 'turn_began';
      readonly nativeSessionId: string;
      readonly model?: string | undefined;
      readonly workingDir?: string | undefined;
      readonly permissions: PermissionLevel;
    }
  /** The row of the record that it is about to write for what it just said. */
  | { readonly type: 'row'; readonly rowId: string }
  /** The turn is over: its last row is the one named before. */
  | {
      readonly type: 'turn_over';
      readonly costUsdSoFar?: number | undefined;
      /** Neither an answer nor a failure: the record may tell nothing of such an end. */
      readonly isSilent: boolean;
    }
  | { readonly type: 'activity'; readonly activity: 'idle' | 'busy' | 'waiting' }
  | { readonly type: 'permissions'; readonly permissions: PermissionLevel }
  /** Work that goes on behind turns: all of it, or one piece that began or ended. */
  | { readonly type: 'tasks'; readonly taskIds: readonly string[] }
  | { readonly type: 'task_began' | 'task_ended'; readonly taskId: string }
  | {
      readonly type: 'answer';
      readonly requestId: string;
      readonly isDone: boolean;
      /** Rounded to what the CLI shows people. */
      readonly costUsd?: number | undefined;
    };

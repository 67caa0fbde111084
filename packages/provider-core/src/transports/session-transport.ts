import type { DecidedBy, HostDecision, HostRequest } from '../spec/host-request.js';
import type { Logger } from '../spec/logger.js';
import type { ProviderDefinition } from '../spec/provider-definition.js';
import type { RecordCursor, RecordEvent } from '../spec/record-event.js';
import type { PermissionLevel, SessionConfig } from '../spec/session-config.js';
import type { ImagePart, SessionOwner, SteerResult } from '../spec/turn.js';
import type { EmitTurnEvent } from '../spec/turn-event.js';
import type { Clock } from '../time/clock.js';

/** Everything a transport needs to know of one session. Plain values; nothing here is open. */
export interface SessionContext {
  readonly definition: ProviderDefinition;
  readonly config: SessionConfig;
  /** Absolute path of the CLI's executable. */
  readonly binary: string;
  readonly cliVersion: string;
  /** Absolute path of the CLI's own home. */
  readonly cliHome: string;
  /** Absent only while a provider that picks the id itself has not told it yet. */
  readonly nativeSessionId?: string | undefined;
  /** The session's private folder for planned files, spool and the like; absolute, exists, 0700. */
  readonly filesDir: string;
  /** Random; in the environment of every process of the session, as `HOLDFAST_NONCE`. */
  readonly nonce: string;
  /** Shared by all sessions of one state directory. */
  readonly stateDir: string;
  /** Path of our tmux server's socket, 100 bytes at most. */
  readonly tmuxSocket: string;
  /** Whether the session has ever had an acknowledged turn; without one there may be no record. */
  readonly acknowledged: boolean;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** The right to write, held by whoever holds the session's lease. */
export interface LeaseFence {
  /** Grows with every owner. */
  readonly token: number;
  /** Synchronous: false as soon as another owner has taken the lease. */
  readonly isCurrent: () => boolean;
}

/** One way to drive one provider's sessions; the only thing the turn machine sees of it. */
export interface SessionTransport {
  /** Transports with the same word share their processes: a session moves between them with nothing ended. */
  readonly processes?: string | undefined;
  /** Looks for a living process of the session. Read-only, starts nothing. */
  readonly observe: (context: SessionContext) => Promise<ProcessObservation>;
  /** Reads the provider's own record from `since`, or all of it. Read-only, needs no process. */
  readonly readRecord: (
    context: SessionContext,
    since: RecordCursor | undefined,
  ) => Promise<RecordReading>;
  /** Looks for a process that is not ours and could write the session. Read-only. */
  readonly findForeignOwner: (
    context: SessionContext,
  ) => Promise<SessionOwner | 'unknown' | undefined>;
  /** Why this text cannot be delivered exactly, judged before anything is typed or journaled. Read-only. */
  readonly findRefusal: (
    context: SessionContext,
    text: string,
    images: readonly ImagePart[],
  ) => Promise<{ readonly reason: string; readonly detail: string } | undefined>;
  /** Attaches to the living process, or starts or natively resumes one. Checks identity and permissions. */
  readonly open: (context: SessionContext, request: OpenRequest) => Promise<OpenSession>;
  /** Ends every process of the session, the tools it started included; archives where asked and claimed. */
  readonly end: (context: SessionContext, request: EndRequest) => Promise<EndReport>;
}

/** Three-valued: what cannot be seen is unknown, never gone. */
export type ProcessObservation =
  | { readonly state: 'gone' }
  | {
      readonly state: 'alive';
      readonly activity: SessionActivity;
      readonly tmuxSession?: string | undefined;
      readonly pid?: number | undefined;
    }
  | { readonly state: 'unknown'; readonly why: string };

/** What the provider itself says it is doing. `waiting` is a dialog or an approval. */
export type SessionActivity = 'idle' | 'busy' | 'waiting' | 'unknown';

/** What stands in the provider's record since a cursor. */
export type RecordReading =
  | { readonly state: 'readable'; readonly events: readonly RecordEvent[] }
  /** The provider has no record of the session at all. */
  | { readonly state: 'absent' }
  /** Unreadable, shorter than the cursor, or another file. */
  | { readonly state: 'untrustworthy'; readonly why: string };

export interface OpenRequest {
  readonly fence: LeaseFence;
  /** Let the CLI finish by itself a turn that a crash cut off, where it can. */
  readonly finishInterruptedTurn: boolean;
  /** Receives `lost_tmux`, `resuming`, `terminal_opened`, `compaction_*` and `notice`. */
  readonly emit: EmitTurnEvent;
  /** Whether the caller had reason to expect a living terminal (a handle that named one, not closed). */
  readonly expectsLive: boolean;
  /** Awaited as soon as the native id is known and before anything is sent. */
  readonly onNativeSession: (nativeSessionId: string) => Promise<void>;
  readonly deadlineMs: number;
  readonly signal: AbortSignal;
  /** Whether the host answers approvals and questions; without one the policy decides at once and nothing waits. */
  readonly answersRequests: boolean;
}

/** What the provider reports after a start or resume; absent where it reports nothing. */
export interface EffectiveSettings {
  readonly permissions?: PermissionLevel | undefined;
  readonly model?: string | undefined;
  readonly workingDir?: string | undefined;
}

/** A session with a living process. Disposing lets go of our connections and leaves the process running. */
export interface OpenSession extends AsyncDisposable {
  readonly nativeSessionId: string;
  readonly tmuxSession?: string | undefined;
  /** Opaque id of the terminal that shows the session, where there is one. */
  readonly terminalId?: string | undefined;
  /** Whether a process or terminal had to be brought back. */
  readonly recovered: boolean;
  readonly effective: EffectiveSettings;
  readonly activity: () => Promise<SessionActivity>;
  /** The page that a waiting session stands on and that nobody is about to answer; absent where none can be. */
  readonly findPage?: () => Promise<PageInTheWay | undefined>;
  /** The end of the provider's record, taken before a message is sent. */
  readonly takeCursor: () => Promise<RecordCursor>;
  /**
   * Puts the message in, exactly once. Resolves when it left us; acceptance is told by `follow`.
   * Throws `session_busy` (a person's draft), `blocked` or `undeliverable_message` before the first byte.
   */
  readonly submit: (request: SubmitRequest) => Promise<void>;
  /**
   * Everything the provider says from `since` on, until the signal aborts. What was read from its record is
   * `durable`; what came by a hook or frame is fast and may come again as durable.
   */
  readonly follow: (since: RecordCursor, signal: AbortSignal) => AsyncIterable<FollowedEvent>;
  /** Puts a text into the running turn, where the provider can; resolves when it is known what became of it. */
  readonly steer?: (request: SteerRequest) => Promise<SteerResult>;
  /** Gives the host's decision on a request that `follow` told of; `gone` when it was settled otherwise. */
  readonly answerRequest?: (requestId: string, decision: HostDecision) => Promise<'taken' | 'gone'>;
  /** How much work of the CLI goes on behind a turn's end (background commands, sub-agents). */
  readonly backgroundWork?: () => Promise<number | 'unknown'>;
  /** Interrupts the running turn; past the deadline the process tree is ended. Resolves when it is proven. */
  readonly interrupt: (options: InterruptOptions) => Promise<void>;
}

/** A page over the session, which a person must answer. */
export interface PageInTheWay {
  readonly dialog: string;
  readonly pageText: string;
}

export interface InterruptOptions {
  readonly deadlineMs: number;
  /** Whose message is taken back where it still waits, whoever put it in. */
  readonly turnId: string;
}

/** A text for the turn that runs. */
export interface SteerRequest {
  readonly text: string;
  /** An id of its own, for the provider's record. */
  readonly steerId: string;
  readonly deadlineMs: number;
  readonly signal: AbortSignal;
}

export interface SubmitRequest {
  readonly text: string;
  readonly images: readonly ImagePart[];
  readonly turnId: string;
  readonly cursor: RecordCursor;
  /**
   * After a crash in `submitting`: the composer may still hold our text. Press submit if it holds exactly
   * ours, else prove it empty and send.
   */
  readonly mayStandInComposer: boolean;
  /** What to do with a draft a person left. */
  readonly draft: 'keep' | 'replace';
  readonly signal: AbortSignal;
}

/** One thing that the transport saw while it followed a turn. */
export type FollowedEvent =
  | { readonly kind: 'record'; readonly event: RecordEvent; readonly durable: boolean }
  /** The provider waits for the host. Told again, with the same id, to whoever follows after a restart. */
  | { readonly kind: 'request'; readonly request: HostRequest }
  /** A request was settled without us, or our decision took effect. */
  | { readonly kind: 'request_settled'; readonly requestId: string; readonly by: DecidedBy }
  /** The process or connection is gone; the record may still be read. */
  | { readonly kind: 'transport_lost'; readonly why: string }
  /** An unknown or unanswerable page stands over the session. */
  | ({ readonly kind: 'blocked' } & PageInTheWay)
  /** Another native id is in the process than the one asked for. */
  | { readonly kind: 'identity_changed'; readonly nativeSessionId: string };

export interface EndRequest {
  readonly archive: boolean;
  readonly deadlineMs: number;
}

export interface EndReport {
  /** Processes that were ended. */
  readonly ended: number;
  /** Processes of the session that could not be ended, by pid. */
  readonly left: readonly number[];
  readonly archived: boolean;
}

import type { HostDecision, HostRequest } from './host-request.js';
import type { RecordEvent } from './record-event.js';
import type { PermissionLevel, SessionConfig } from './session-config.js';
import type { ImagePart } from './turn.js';

/**
 * A CLI driven through a server of its own; the pane only shows. Everything here is data or a
 * pure function: the transport starts, connects, waits and ends.
 */
export interface ServedPane {
  readonly kind: 'served_pane';
  /** How the server is started. Holds no user text and no secret in its arguments. */
  readonly serverLaunch: (request: ServerLaunchRequest) => ServedLaunch;
  /** How a pane is started that shows one session of the server; absent where nothing shows it. */
  readonly paneLaunch?: ((request: PaneLaunchRequest) => ServedLaunch) | undefined;
  readonly protocol: ServedProtocol;
  readonly record: ServedRecord;
  /** Why the protocol cannot take this message exactly; absent when it can. */
  readonly findRefusal: (text: string, images: readonly ImagePart[]) => DeliveryRefusal | undefined;
}

/** What the server is planned from; the same for every session it serves. */
export interface ServerLaunchRequest {
  readonly config: SessionConfig;
  readonly cliHome: string;
  /** Absolute path of the socket it listens on, 100 bytes at most. */
  readonly socketPath: string;
  /** The value of `config.endpoint.apiKey`, read from wherever it is kept. */
  readonly apiKey?: string | undefined;
}

/** What a pane is planned from. It is started in an empty private folder, not in the session's. */
export interface PaneLaunchRequest {
  readonly cliHome: string;
  readonly socketPath: string;
  readonly nativeSessionId: string;
}

/** How the CLI is told to see the working directory; absent where its own configuration says it. */
export type SessionTrust = 'trusted' | 'untrusted' | undefined;

/** Arguments after the binary and what is added to the allow-listed environment. */
export interface ServedLaunch {
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** Why a text is refused before anything is sent. */
export interface DeliveryRefusal {
  readonly reason: string;
  readonly detail: string;
}

/** One call of the server's JSON-RPC. */
export interface ServedCall {
  readonly method: string;
  readonly params: unknown;
}

/** The calls a session needs and how their answers are read. */
export interface ServedProtocol {
  readonly initialize: (client: { readonly name: string; readonly version: string }) => ServedCall;
  /** Sent without an answer once `initialize` was answered. */
  readonly initialized: ServedCall;
  readonly readServer: (result: unknown) => ServedServer;

  readonly readConfig: (workingDir: string) => ServedCall;
  /** Whether the CLI's configuration decides by itself if the working directory is trusted. */
  readonly decidesTrust: (result: unknown, workingDir: string) => boolean;
  readonly startSession: (plan: StartPlan) => ServedCall;
  readonly resumeSession: (plan: ResumePlan) => ServedCall;
  readonly readOpenedSession: (result: unknown) => OpenedServedSession | undefined;
  readonly readSession: (nativeSessionId: string) => ServedCall;
  readonly readActivity: (result: unknown) => ServedActivity;
  readonly listLoaded: () => ServedCall;
  readonly readLoaded: (result: unknown) => readonly string[];

  /** Puts a message into the server's durable queue under our own id. */
  readonly enqueue: (message: ServedMessage) => ServedCall;
  readonly readQueued: (result: unknown) => string | undefined;
  readonly listQueue: (nativeSessionId: string) => ServedCall;
  readonly readQueue: (result: unknown) => readonly QueuedServedMessage[];
  /** Starts a queue that rests, as it does after an interrupt. */
  readonly startQueued: (nativeSessionId: string, queueId: string) => ServedCall;
  readonly removeQueued: (nativeSessionId: string, queueId: string) => ServedCall;
  readonly listTurns: (nativeSessionId: string) => ServedCall;
  readonly readTurns: (result: unknown) => readonly ServedTurn[];

  /** Puts a text into the running turn, under an id of its own. */
  readonly steer?: ((steer: ServedSteer) => ServedCall) | undefined;
  readonly interrupt: (nativeSessionId: string, nativeTurnId: string) => ServedCall;
  readonly listBackgroundWork: (nativeSessionId: string) => ServedCall;
  readonly readBackgroundWork: (result: unknown) => readonly ServedWork[];
  readonly endBackgroundWork: (nativeSessionId: string, workId: string) => ServedCall;
  readonly archive: (nativeSessionId: string) => ServedCall;
  readonly unarchive: (nativeSessionId: string) => ServedCall;

  /** What a refused call means. */
  readonly readRefusal: (error: {
    readonly code: number;
    readonly message: string;
    readonly data?: unknown;
  }) => ServedRefusal;
  /** What the server asks, and how it is answered; absent where the answer is that nobody here can. */
  readonly readRequest: (asked: ServedAsk) => ServedRequest | undefined;
  readonly readFrame: (method: string, params: unknown) => ServedFrame;
}

/** What a new session is planned from. */
export interface StartPlan {
  readonly config: SessionConfig;
  readonly trust: SessionTrust;
}

/** What a resume is planned from. */
export interface ResumePlan extends StartPlan {
  readonly nativeSessionId: string;
  /** What `readConfig` was answered: the CLI's own configuration, for a session that is left to it. */
  readonly ownConfig?: unknown;
}

/** What a server says of itself. */
export interface ServedServer {
  readonly version?: string | undefined;
  readonly cliHome?: string | undefined;
}

/** A session as the server opened it, with what it really runs with. */
export interface OpenedServedSession {
  readonly nativeSessionId: string;
  /** Absolute path of the session's record, where the server tells it. */
  readonly recordPath?: string | undefined;
  readonly permissions?: PermissionLevel | undefined;
  readonly model?: string | undefined;
  readonly workingDir?: string | undefined;
  readonly activity: ServedActivity;
}

/** `unloaded`: the server knows the session and runs nothing of it. */
export type ServedActivity = 'idle' | 'busy' | 'waiting' | 'unloaded' | 'unknown';

/** One message for the server's queue. */
export interface ServedMessage {
  readonly nativeSessionId: string;
  readonly clientMessageId: string;
  readonly text: string;
  readonly images: readonly ImagePart[];
}

/** A text for the running turn. */
export interface ServedSteer {
  readonly nativeSessionId: string;
  /** The turn that must be the running one. */
  readonly nativeTurnId: string;
  readonly clientMessageId: string;
  readonly text: string;
}

/** A message that waits in the server's queue. */
export interface QueuedServedMessage {
  readonly queueId: string;
  readonly clientMessageId: string;
}

/** A turn as the server remembers it. */
export interface ServedTurn {
  readonly nativeTurnId: string;
  readonly isRunning: boolean;
  readonly clientMessageIds: readonly string[];
}

/** What a tool left running. */
export interface ServedWork {
  readonly workId: string;
  /** The tool call that started it. */
  readonly callId: string;
}

/** Why the server refused a call. */
export type ServedRefusal =
  | 'held_elsewhere'
  | 'no_record'
  | 'archived'
  | 'provider_missing'
  | 'not_queued'
  | 'already_running'
  | 'too_large'
  | 'no_such_turn'
  | 'other';

/** A request of the server as it came. */
export interface ServedAsk {
  readonly method: string;
  readonly params: unknown;
  /** The server's own number of it, the same on every connection. */
  readonly id: number | string;
  /** What the tool call was told to do, where a frame said so before. */
  readonly toolInput: (callId: string) => unknown;
}

/** A request of the server, read. */
export interface ServedRequest {
  readonly nativeSessionId?: string | undefined;
  readonly nativeTurnId?: string | undefined;
  readonly request: HostRequest;
  /** The decision in the provider's form. It grants no more than was decided, and lets the turn go on. */
  readonly answer: (decision: HostDecision) => unknown;
}

/** What one notification says. A session's events are fast and may come again from its record. */
export interface ServedFrame {
  readonly nativeSessionId?: string | undefined;
  /** The turn it belongs to. */
  readonly nativeTurnId?: string | undefined;
  readonly events: readonly RecordEvent[];
  readonly activity?: ServedActivity | undefined;
  readonly runningTurnId?: string | undefined;
  readonly endedTurnId?: string | undefined;
  /** What a tool call that begins is told to do, where a request for it would not say so itself. */
  readonly toolInput?: { readonly callId: string; readonly input: unknown } | undefined;
  /** The server's number of a request that waits no more. */
  readonly settledRequest?: number | string | undefined;
  /** The session runs with other settings now, or is not loaded any more: what was read when it was opened holds no longer. */
  readonly isReset?: boolean | undefined;
}

/** Where the CLI keeps a session's record and how its lines are read. */
export interface ServedRecord {
  /** Folders below the CLI's home, from likely to unlikely; their subfolders count too. */
  readonly folders: (nativeSessionId: string) => readonly RecordFolder[];
  readonly isRecord: (fileName: string, nativeSessionId: string) => boolean;
  /** A record of the session in a form that is not read here. */
  readonly isForeignForm: (fileName: string, nativeSessionId: string) => boolean;
  readonly createReader: () => ServedRecordReader;
  /** The file below the CLI's home that whoever writes the session keeps locked. */
  readonly writerLock?: ((nativeSessionId: string) => string) | undefined;
  /** Patterns, found in the record's bytes, that begin and end a turn. */
  readonly turnMarks: { readonly begin: string; readonly end: readonly string[] };
}

/** One folder to look into, with how many levels of subfolders. */
export interface RecordFolder {
  readonly path: string;
  readonly depth: number;
}

/** Reads a record line by line; remembers only what later lines refer to. */
export interface ServedRecordReader {
  /** `value` is the parsed line, `undefined` where it was no JSON. */
  readonly read: (value: unknown) => readonly RecordEvent[];
  /** The id of the last record read, where records have ids. */
  readonly lastRecordId: () => string | undefined;
}

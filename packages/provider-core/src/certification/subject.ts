import type { HostDecision, HostRequest } from '../spec/host-request.js';
import type { SessionConfig } from '../spec/session-config.js';
import type { ImagePart, SteerResult, Usage } from '../spec/turn.js';
import type { TurnEvent } from '../spec/turn-event.js';
import type { Claims } from './claims.js';
import type { ModelRequest } from './scripted-model/model-request.js';
import type { ScriptedStep, ScriptedToolCall } from './scripted-model/scripted-step.js';

/** How much dies: the pane, the tmux server with all its panes, or every process of the session. */
export type LossDepth = 'pane' | 'tmux_server' | 'all_processes';

/** Every depth that a way has, from the mildest to the worst. */
export function lossDepthsOf({ way }: Pick<Claims, 'way'>): readonly LossDepth[] {
  return way === 'tmux' ? ['pane', 'tmux_server', 'all_processes'] : ['all_processes'];
}

/** How the host answers one request: a decision, the nth choice of every question, or not at all. */
export type ScriptedDecision =
  | HostDecision
  | { readonly decision: 'choose'; readonly choice: number }
  | { readonly decision: 'never' };

/** Ways in which a model request fails, or an answer that is none. */
export type FailureName =
  | 'rate_limited'
  | 'auth_required'
  | 'overloaded'
  | 'context_too_long'
  | 'model_not_found'
  | 'refusal'
  | 'broken_stream'
  | 'history_rejected'
  | 'unknown'
  | 'empty_answer';

/** A handle as it stands in JSON; what is in it is the layer's own affair. */
export type HandleJson = Readonly<Record<string, unknown>>;

/** How one turn is run. */
export interface SubjectTurnOptions {
  readonly turnId?: string;
  /** Laid over the subject's own configuration; a start always has one, a continuation only when this is given. */
  readonly config?: Partial<SessionConfig>;
  readonly onInterrupted?: 'fail' | 'resume';
  readonly whenBusy?: 'fail' | 'wait';
  /** Another transport than the subject's own. */
  readonly transport?: 'auto' | 'tmux' | 'structured' | undefined;
  /** Whether `tmux` is on the service's PATH; for a way in a terminal it always is, for another only when this says so. */
  readonly tmuxOnPath?: boolean | undefined;
  readonly images?: readonly ImagePart[] | undefined;
  readonly waitFor?: 'turn' | 'quiescence' | undefined;
  /** Limits of the turn by name, in milliseconds. */
  readonly limits?: Readonly<Record<string, number>> | undefined;
  /** How the host answers requests, in order, the last one again and again; without it there is no handler. */
  readonly decisions?: readonly ScriptedDecision[] | undefined;
  /** The fault point at which the process that runs the turn is stopped, as by SIGSTOP. */
  readonly freezeAt?: string;
  /** The fault point at which the process that runs the turn kills itself, as by SIGKILL. */
  readonly dieAt?: string;
}

/** What a turn gave. A turn that fails rejects instead, with the layer's typed error. */
export interface SubjectTurn {
  readonly answer: string;
  readonly handle: HandleJson;
  readonly turnId: string;
  readonly recovered: boolean;
  readonly usage?: Usage | undefined;
  readonly sessionUsage?: Usage | undefined;
  readonly stopReason: string;
  readonly events: readonly TurnEvent[];
  /** Every request that the host was asked. */
  readonly requests: readonly HostRequest[];
}

/** A turn that runs in a process of its own, which can be stopped and killed. */
export interface RunningTurn {
  /** Settles with the turn; rejects with its typed error, or when the process dies. */
  readonly finished: Promise<SubjectTurn>;
  /** Resolves as soon as the handle is known. */
  readonly handle: Promise<HandleJson>;
  readonly pid: number;
  readonly events: () => readonly TurnEvent[];
  readonly requests: () => readonly HostRequest[];
  /** Puts a text into the running turn. */
  readonly steer: (text: string) => Promise<SteerResult>;
  /** Resolves when the process stands still at its fault point. */
  readonly frozen: () => Promise<void>;
  readonly thaw: () => void;
  /** SIGKILL; resolves when the process is gone. */
  readonly kill: () => Promise<void>;
  /** Asks the turn to interrupt itself. */
  readonly interrupt: () => void;
}

/** A process of a session. */
export interface ProcessSight {
  readonly pid: number;
  readonly startTime: string;
  readonly command: string;
}

/**
 * One layer over one real provider, driven from outside. Each turn runs in a process that has never seen the session, so
 * that nothing but the handle and the disk can carry it over. What was sent is counted by the model and by the
 * provider's own record.
 */
export interface CertificationSubject {
  readonly claims: Claims;
  readonly provider: string;
  readonly workingDir: string;
  /** The model the session is started with. */
  readonly model: string;

  readonly start: (message: string, options?: SubjectTurnOptions) => Promise<SubjectTurn>;
  readonly continue: (
    handle: HandleJson,
    message: string,
    options?: SubjectTurnOptions,
  ) => Promise<SubjectTurn>;
  /** Starts (`handle` absent) or continues without waiting for the end. */
  readonly begin: (
    handle: HandleJson | undefined,
    message: string,
    options?: SubjectTurnOptions,
  ) => RunningTurn;
  readonly inspect: (handle: HandleJson) => Promise<'present' | 'absent' | 'unknown'>;
  readonly close: (
    handle: HandleJson,
    options?: { readonly archive?: boolean },
  ) => Promise<{ readonly archived: boolean }>;

  /** Kills, by pid or tmux id, and returns when the dead are proven dead. */
  readonly lose: (handle: HandleJson, depth: LossDepth) => Promise<void>;
  /** Every process of the subject's sessions, the tools they started and tmux included. */
  readonly livingProcesses: () => Promise<readonly ProcessSight[]>;
  /** Stops the model and starts another at the same address: it keeps nothing but its log. */
  readonly restartModel: () => Promise<void>;
  /** Probes until `probe` holds; past the subject's deadline it rejects and names what was awaited. */
  readonly waitUntil: (awaited: string, probe: () => boolean | Promise<boolean>) => Promise<void>;
  /** From now on the model answers nothing, until the function that this gives is called. */
  readonly holdModel: () => () => void;
  /** Every request of the conversation itself, oldest first. */
  readonly modelRequests: () => readonly ModelRequest[];
  /** The user messages in the provider's own record of the session. */
  readonly recordedMessages: (handle: HandleJson) => Promise<readonly string[]>;
  /** The ids of every session the provider has a record of. */
  readonly nativeSessions: () => Promise<readonly string[]>;
  readonly nativeSessionId: (handle: HandleJson) => string;
  /** Makes our own record say that the session was last used so many days ago. */
  readonly ageSession: (handle: HandleJson, days: number) => Promise<void>;
  /** Starts a process in the working directory that carries no mark of ours. */
  readonly startStranger: () => Promise<ProcessSight>;
  /** Moves the provider's record of the session away. */
  readonly removeNativeHistory: (handle: HandleJson) => Promise<void>;
  /** The same handle with other provider fields (wire names); `undefined` removes one. */
  readonly withProviderFields: (handle: HandleJson, fields: HandleJson) => HandleJson;
  readonly providerFields: (handle: HandleJson) => HandleJson;

  /** A tool call by which this provider's model runs a shell command. */
  readonly shellCall: (command: string) => ScriptedToolCall;
  /** A tool call by which this provider's model writes a file in the working directory, as fast as it can. */
  readonly writeCall: (path: string) => ScriptedToolCall;
  /** A tool call that needs to be allowed under `asking`, and writes a file at `path` when it is. */
  readonly askingCall: (path: string) => ScriptedToolCall;
  /** A configuration under which the provider asks before it runs such a call. */
  readonly asking: Partial<SessionConfig>;
  /** A tool call by which this provider's model asks the user to choose one of `labels`. */
  readonly questionCall: (question: string, labels: readonly string[]) => ScriptedToolCall;
  /** A tool call that goes on after the turn's end and, as it ends, makes the provider begin a turn of its own. */
  readonly backgroundCall: (command: string) => ScriptedToolCall;
  /** Whether the provider tells when the limit of that failure ends. */
  readonly tellsReset: boolean;
  /** The answer of a model that fails so. */
  readonly failure: (name: FailureName) => ScriptedStep;
  /** Arms a trap: the moment `path` is there, every process the session has now gets SIGKILL. */
  readonly killAllWhenWritten: (
    handle: HandleJson,
    path: string,
  ) => Promise<{ readonly done: Promise<void> }>;
  /** A configuration under which the provider runs such a call without asking. */
  readonly unattended: Partial<SessionConfig>;
  /** A configuration with one more MCP server, and a name its tool is offered under. */
  readonly mcpFixture: { readonly config: Partial<SessionConfig>; readonly toolName: string };
  /** A configuration under which the provider does not try a failed model request again. */
  readonly withoutRetries: Partial<SessionConfig>;
  /** Keeps the provider from trying a failed model request again, whatever the failure; to be used from the start on. */
  readonly stopRetries: () => Promise<Partial<SessionConfig>>;
  /** A configuration under which a history of `tokens` is compacted; to be used from the start on. */
  readonly compactingAt: (tokens: number) => Promise<Partial<SessionConfig>>;
  /** A binary of the CLI that says it is newer than any that was certified. */
  readonly newerBinary: () => Promise<Partial<SessionConfig>>;
  /** Another provider that is registered. */
  readonly otherProvider: string;
  /** A configuration that forces the page which changes the session id, where the provider knows one. */
  readonly forcedPage: Partial<SessionConfig>;
  /** Another existing folder. */
  readonly createFolder: () => Promise<string>;
  readonly hasFiles: (folder: string) => Promise<boolean>;
  /** A home in which the provider was never set up. */
  readonly createVirginCliHome: () => Promise<string>;
  /** Types into the session's pane as a person would, without Enter. */
  readonly leaveDraft: (handle: HandleJson, text: string) => Promise<void>;
  /** Types and presses Enter as a person would, as soon as the pane shows `sign`; gives up when it never does. */
  readonly sendOnceShown: (handle: HandleJson, sign: string, text: string) => Promise<void>;
  /** What the session's pane shows. */
  readonly screen: (handle: HandleJson) => Promise<string>;
  /** Makes the session's lease look like that of a process that died before the machine was started again. */
  readonly orphanLease: (handle: HandleJson) => Promise<void>;
}

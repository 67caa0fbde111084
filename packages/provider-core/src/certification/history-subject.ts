import type { ProviderCapabilities } from '../spec/capabilities.js';
import type { SessionConfig } from '../spec/session-config.js';
import type { ModelRequest } from './scripted-model/model-request.js';
import type { ScriptedStep, ScriptedToolCall } from './scripted-model/scripted-step.js';
import type {
  FailureName,
  HandleJson,
  ProcessSight,
  RunningTurn,
  SubjectTurn,
  SubjectTurnOptions,
} from './subject.js';

/** How a tool server is reached. */
export type ToolServerKind = 'stdio' | 'http';

/** How one turn is run; the configuration may name another provider too. */
export interface HistoryTurnOptions extends Omit<SubjectTurnOptions, 'config'> {
  readonly config?: HistoryConfig | undefined;
}

/** Laid over the subject's own configuration. */
export type HistoryConfig = Partial<SessionConfig> & {
  readonly provider?: string;
  readonly apiKey?: string;
  /** Names the durable queue. */
  readonly agentId?: string;
};

/** One message of a conversation that is given whole. */
export interface SpokenMessage {
  readonly role: 'user' | 'assistant';
  readonly content: string;
}

/** A real MCP server that appends a line to a ledger for everything that was really done. */
export interface LedgerTools {
  /** A configuration with the server, under which it is called without asking. */
  readonly config: HistoryConfig;
  /** A call that has an effect: one line. It can kill the process that runs the turn, or never give a result. */
  readonly append: (tag: string, trick?: LedgerTrick) => ScriptedToolCall;
  /** The same by a tool that its server declares read-only. */
  readonly look: (tag: string, trick?: LedgerTrick) => ScriptedToolCall;
  /** The name that the model knows the first tool by. */
  readonly toolName: string;
}

/** What a ledger's tool does besides its line. */
export type LedgerTrick = 'kill_before' | 'kill_after' | 'hang';

/**
 * An agent over one model API, driven from outside: each call runs in a process that has never seen the session. What
 * was sent is counted by the model, what was done by the tool's ledger; never by our own transcript.
 */
export interface HistorySubject {
  readonly capabilities: ProviderCapabilities;
  readonly provider: string;
  readonly otherProvider: string;
  readonly model: string;

  readonly start: (message: string, options?: HistoryTurnOptions) => Promise<SubjectTurn>;
  readonly continue: (
    handle: HandleJson,
    message: string,
    options?: HistoryTurnOptions,
  ) => Promise<SubjectTurn>;
  /** Starts (`handle` absent) or continues without waiting for the end. */
  readonly begin: (
    handle: HandleJson | undefined,
    message: string,
    options?: HistoryTurnOptions,
  ) => RunningTurn;
  /** Gives a whole conversation; `null` stands for a handle that is not there. */
  readonly converse: (
    handle: HandleJson | null | undefined,
    messages: readonly SpokenMessage[],
    options?: HistoryTurnOptions,
  ) => Promise<SubjectTurn>;
  /** Goes on with one message and a handle that is not there. */
  readonly continueWithoutHandle: (message: string) => Promise<unknown>;
  /** The layer below, which keeps no history: starts (`handle` absent) or continues. */
  readonly askBelow: (handle: HandleJson | undefined, message: string) => Promise<unknown>;
  /** Puts messages into the durable queue; resolves when all are kept, while the process delivers them. */
  readonly enqueue: (
    handle: HandleJson,
    messages: readonly string[],
    agentId: string,
  ) => Promise<{ readonly kill: () => Promise<void> }>;
  /** Delivers what waits in the queue. */
  readonly drain: (handle: HandleJson, agentId: string) => Promise<void>;
  readonly close: (
    handle: HandleJson,
    options?: { readonly archive?: boolean },
  ) => Promise<{ readonly archived: boolean }>;

  /** Moves the session's transcript away. */
  readonly removeTranscript: (handle: HandleJson) => Promise<void>;
  /** Writes a line that is none into the middle of the session's transcript. */
  readonly damageTranscript: (handle: HandleJson) => Promise<void>;
  readonly restartModel: () => Promise<void>;
  readonly holdModel: () => () => void;
  readonly modelRequests: () => readonly ModelRequest[];
  readonly waitUntil: (awaited: string, probe: () => boolean | Promise<boolean>) => Promise<void>;
  readonly livingProcesses: () => Promise<readonly ProcessSight[]>;
  readonly createFolder: () => Promise<string>;
  readonly failure: (name: FailureName) => ScriptedStep;
  readonly tools: (kind: ToolServerKind) => Promise<LedgerTools>;
  /** Every line of the ledger, in order. */
  readonly ledger: () => Promise<readonly string[]>;
}

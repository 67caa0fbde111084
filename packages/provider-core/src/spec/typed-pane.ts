import type { HostDecision, HostRequest } from './host-request.js';
import type { LaunchPlan, LaunchRequest, PlannedFile } from './launch-plan.js';
import type { RecordEvent } from './record-event.js';
import type { PermissionLevel } from './session-config.js';
import type { UsageCounter } from './stream-process.js';

/**
 * A CLI driven by typing into its pane. Data and pure functions only: the typed-pane transport starts the process,
 * watches the files, presses the keys, and asks these what they mean.
 */
export interface TypedPane {
  readonly kind: 'typed_pane';
  readonly launch: (request: LaunchRequest) => LaunchPlan;
  /** Where the CLI keeps what we read, relative to its home; `*` stands for one folder of any name. */
  readonly files: {
    readonly record: (nativeSessionId: string) => string;
    /** One JSON file a process, named `<pid>.json`. */
    readonly registryFolder: string;
    /** Name of the hooks' spool inside the session's private folder. */
    readonly spool: string;
  };
  readonly planDelivery: (request: DeliveryRequest) => DeliveryPlan;
  readonly gate: Gate;
  readonly approvals: Approvals;
  /** Whether a record's text holds anything that could be resumed. */
  readonly holdsConversation: (record: string) => boolean;
  /**
   * What to append to the record before a resume, in the CLI's own words, where the record as it stands would lead it to
   * a branch that was left; absent where nothing is needed.
   */
  readonly planResumeMark?: (record: string, nativeSessionId: string) => string | undefined;
  /** A reader of record rows, in file order, from some row on. */
  readonly createRecordReader: () => RecordReader;
  readonly createUsageCounter: () => UsageCounter;
  /** What a row of the record says of a text that was put into a running turn; absent where the CLI does not tell. */
  readonly readSteerSign?: (row: unknown, text: string) => SteerSign | undefined;
  /** Reads one row of the hooks' spool. */
  readonly readSignal: (row: unknown) => PaneSignal | undefined;
  /** Reads a registry file; absent when it is not one of a session yet. */
  readonly readRegistry: (value: unknown) => RegistryEntry | undefined;
  /** Reads a capture that holds the colours as escape sequences. */
  readonly readScreen: (capture: string) => PaneScreen;
}

/** The text to put in and what the way depends on. */
export interface DeliveryRequest {
  readonly text: string;
  readonly cliVersion: string;
}

/** How a text goes in exactly, or why it cannot. */
export type DeliveryPlan =
  | {
      readonly kind: 'pastes';
      /** One bracketed paste each, in this order; together exactly the text. */
      readonly pastes: readonly string[];
      /** What the composer shows of it: the text itself, or a token in its place. */
      readonly shownAs: 'text' | 'token';
      /** Paths the CLI would replace by the content of the file, if there is one of that name. */
      readonly mentionedPaths: readonly string[];
    }
  | { readonly kind: 'refused'; readonly reason: string; readonly detail: string };

/** How the CLI's own submit hook is told which text is ours. */
export interface Gate {
  /** Files to write, in this order; the last one arms the gate. */
  readonly arm: (delivery: ArmedDelivery) => readonly PlannedFile[];
  /** Removing this file disarms it. */
  readonly armedFile: string;
  /** The file that holds the last text that was armed, and how to read it back. */
  readonly textFile: string;
  readonly readArmedText: (content: string) => string | undefined;
}

/**
 * How the CLI's own permission hook asks the host. A relay writes each request into a folder of its own and waits there;
 * names are of files inside the session's private folder.
 */
export interface Approvals {
  /** While this file stands somebody answers; without it the relay denies at once. */
  readonly approverFile: string;
  /** Holds a folder a request; its name is the request's id. */
  readonly approvalsFolder: string;
  /** In a request's folder: what the CLI asks, and the answer. A relay whose folder is gone ends without a word. */
  readonly requestFile: string;
  readonly answerFile: string;
  readonly readRequest: (requestId: string, payload: unknown) => PaneRequest | undefined;
  /** The content of the answer file. */
  readonly writeAnswer: (payload: unknown, decision: HostDecision) => string;
}

/** A request that waits in the pane too. */
export interface PaneRequest {
  readonly request: HostRequest;
  /** The CLI asks for one of these at a time: the next one says that this one is settled. */
  readonly isSerial: boolean;
}

/** A delivery that the gate lets through: the one text, and the token that it is armed with. */
export interface ArmedDelivery {
  readonly text: string;
  /** Random; the hook's verdict carries it. */
  readonly token: string;
  readonly permissions: PermissionLevel;
}

/** Reads the provider's record row by row. It keeps what it needs of earlier rows. */
export interface RecordReader {
  /** The events a row tells; `undefined` is a row that is no JSON. */
  readonly push: (row: unknown) => readonly RecordEvent[];
}

/** `held`: in the CLI's queue. `taken_in`: the running turn has it. `own_turn`: it became a turn of its own. */
export type SteerSign = 'held' | 'taken_in' | 'own_turn';

/** What a hook of ours wrote down. */
export type PaneSignal =
  | {
      readonly type: 'session_started';
      readonly nativeSessionId: string;
      readonly model?: string | undefined;
      readonly workingDir?: string | undefined;
    }
  | { readonly type: 'gate'; readonly verdict: GateVerdict }
  | { readonly type: 'record'; readonly event: RecordEvent };

/**
 * What the gate decided on a submitted text: `passed` ours, `mixed` held ours and something else and was blocked,
 * `looser_permissions` was blocked, `other` was somebody else's and went through.
 */
export type GateVerdict =
  | { readonly kind: 'passed'; readonly token: string }
  | { readonly kind: 'mixed'; readonly token: string }
  | { readonly kind: 'looser_permissions'; readonly token: string; readonly mode: string }
  | {
      readonly kind: 'other';
      readonly text: string;
      readonly nativeTurnId?: string | undefined;
      /** The CLI itself wrote it: a turn nobody asked for begins. */
      readonly isBackground: boolean;
    };

/** What the CLI says of one of its processes. */
export interface RegistryEntry {
  readonly nativeSessionId: string;
  readonly activity: 'idle' | 'busy' | 'waiting' | 'unknown';
  readonly waitingFor?: string | undefined;
  /** Whether a command goes on behind a turn's end; absent where the CLI does not tell. */
  readonly hasBackgroundCommands?: boolean | undefined;
  /** Clock ticks from boot to the process's start, where the CLI tells them. */
  readonly startTime?: string | undefined;
}

/** What stands in the pane. Order of judgement: blocked, composer, starting. */
export type PaneScreen =
  | { readonly state: 'composer'; readonly composer: Composer }
  /** A page stands in the way; `answer` is there when it may be answered under a condition. */
  | {
      readonly state: 'page';
      readonly dialog: string;
      readonly text: string;
      readonly answer?: PageAnswer | undefined;
    }
  /** Nothing that could be read; may be a start under way or an unknown page. */
  | { readonly state: 'unreadable'; readonly text: string };

/** What is written in the composer, without what is only shown in grey. */
export interface Composer {
  readonly content: 'empty' | 'text' | 'token' | 'other_mode';
  /** The visible lines, without prompt and indent. */
  readonly lines: readonly string[];
  /** The composer is taller than the screen: `lines` are its end. */
  readonly isCut: boolean;
}

/** An answer that a page may be given, by moving its marker to a choice and pressing Enter. */
export interface PageAnswer {
  /** The permission that must have been given for it. */
  readonly needs: 'trust_working_dir';
  readonly choice: string;
  /** The choice that is marked now. */
  readonly marked: string | undefined;
  /** The page's choices from top to bottom. */
  readonly choices: readonly string[];
}

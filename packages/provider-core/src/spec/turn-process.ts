import type { PlannedFile } from './launch-plan.js';
import type { DeliveryRefusal, ServedCall, ServedLaunch, ServedRecord } from './served-pane.js';
import type { PermissionLevel, SessionConfig } from './session-config.js';
import type { ImagePart } from './turn.js';

/**
 * A CLI started anew for each turn: it reads the message from its standard input to the end, prints JSON lines, keeps its
 * own record and ends. Data and pure functions only: the turn-process transport starts it, follows it and ends it.
 */
export interface TurnProcess {
  readonly kind: 'turn_process';
  /** How a session comes to be before its first message, so that its id is known and written down before any work. */
  readonly creation: SessionCreation;
  /** How one turn's process is started; the same for the first turn and for every later one. */
  readonly turnLaunch: (request: TurnLaunchRequest) => TurnLaunch;
  /** What the standard input gets, so that the model gets exactly `text`. */
  readonly encodeMessage: (text: string) => string;
  /** Why the process cannot take this message exactly; absent when it can. */
  readonly findRefusal: (text: string, images: readonly ImagePart[]) => DeliveryRefusal | undefined;
  readonly record: ServedRecord;
  /** What one line of the record says of the settings that a turn runs with; absent where it says nothing. */
  readonly readSettings: (value: unknown) => TurnSettings | undefined;
  /** The session that one line of the standard output says was opened. */
  readonly readOpened: (value: unknown) => string | undefined;
  /** Why the process gave up, from its standard error; absent where it does not say. */
  readonly readGivenUp: (errors: string) => GivenUp | undefined;
  /** Whether a line of its standard error is one that a process writes which does not end. */
  readonly isNotice: (line: string) => boolean;
}

/** A short JSON-RPC exchange over standard input and output that calls no model. */
export interface SessionCreation {
  readonly launch: (
    request: Pick<TurnLaunchRequest, 'config' | 'cliHome' | 'apiKey'>,
  ) => ServedLaunch;
  readonly initialize: (client: { readonly name: string; readonly version: string }) => ServedCall;
  /** Sent without an answer once `initialize` was answered. */
  readonly initialized: ServedCall;
  readonly start: (config: SessionConfig) => ServedCall;
  readonly readNativeSessionId: (result: unknown) => string | undefined;
  /** Once this is answered, the session has a record, without a turn. */
  readonly keep: (nativeSessionId: string) => ServedCall;
  readonly archive: (nativeSessionId: string) => ServedCall;
}

/** What one turn's process is planned from. Not the message: that goes in by the standard input. */
export interface TurnLaunchRequest {
  readonly config: SessionConfig;
  readonly cliHome: string;
  readonly nativeSessionId: string;
  /** Absolute paths of the message's images, in order. */
  readonly images: readonly string[];
  /** The value of `config.endpoint.apiKey`, read from wherever it is kept. */
  readonly apiKey?: string | undefined;
}

/** Arguments after the binary, what is added to the environment, and files. Holds no user text and no secret in its arguments. */
export interface TurnLaunch extends ServedLaunch {
  /** Written 0600 into the CLI's home before the start and taken away after the end. */
  readonly homeFiles: readonly PlannedFile[];
}

/** What a turn runs with, by the provider's own record of it. */
export interface TurnSettings {
  readonly permissions?: PermissionLevel | undefined;
}

/** Why a process ended without taking the message in. */
export interface GivenUp {
  readonly reason: 'held_elsewhere' | 'no_record' | 'archived' | 'unusable_record' | 'other';
  /** The CLI's own words, one line. */
  readonly detail: string;
}

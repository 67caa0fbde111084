import type {
  FailureName,
  HandleJson,
  ScriptedStep,
  ScriptedToolCall,
} from '@holdfast/provider-core/certification';
import type { NewerForm } from '../newer-binary.js';
import type { Place } from '../place.js';

/** Where a person's login is. */
export interface PersonsLogin {
  /** The files that are copied. */
  readonly files: readonly string[];
  /** Everything of the CLI's in the person's home; none of it may change. */
  readonly watched: readonly string[];
}

/** What the harness must know of one CLI to set up its home and to read its record by other means than ours. */
export interface ProviderFixture {
  readonly provider: string;
  readonly model: string;
  /** Below `home`, as the CLI names it. */
  readonly cliHomeName: string;
  /** Writes what a person's first start would have left: onboarding done, the working directory trusted. */
  readonly prepareCliHome: (cliHome: string, place: Place) => Promise<void>;
  /** Added to the endpoint's base URL. */
  readonly basePath: string;
  readonly env: Readonly<Record<string, string>>;
  readonly shellCall: (command: string) => ScriptedToolCall;
  readonly writeCall: (path: string) => ScriptedToolCall;
  /** How the CLI's model names a tool of an MCP server. */
  readonly mcpTool: (server: string, tool: string) => Omit<ScriptedToolCall, 'input'>;
  /** Runs shell calls without asking. */
  readonly unattended: HandleJson;
  /** A call that needs to be allowed under `asking`, and what makes the CLI ask. */
  readonly askingCall: (path: string) => ScriptedToolCall;
  readonly asking: HandleJson;
  readonly questionCall: (question: string, labels: readonly string[]) => ScriptedToolCall;
  readonly backgroundCall: (command: string) => ScriptedToolCall;
  readonly newerForm: NewerForm;
  /** Whether the CLI tells when a limit ends; with a key of one's own some tell it only in words. */
  readonly tellsReset: boolean;
  /** How the model fails in this provider's protocol. */
  readonly failure: (name: FailureName) => ScriptedStep;
  /** Sets the CLI's home up so that no failed model request is tried again. */
  readonly stopRetries: (cliHome: string) => Promise<void>;
  /** Sets the CLI's home up so that a history of `tokens` is compacted, and gives what a session needs besides. */
  readonly compactingAt: (cliHome: string, tokens: number) => Promise<HandleJson>;
  readonly withoutRetries: HandleJson;
  readonly forcedPage: HandleJson;
  readonly readUserMessages: (
    cliHome: string,
    nativeSessionId: string,
  ) => Promise<readonly string[]>;
  readonly findLogin: (person: {
    readonly home: string;
    readonly cliHome: string | undefined;
  }) => PersonsLogin;
  /** Copies the login, and no more of the person's settings than it takes to start without a page. */
  readonly copyLogin: (login: PersonsLogin, cliHome: string, place: Place) => Promise<void>;
  /** A made-up home of somebody who signed in: path below the home to content. */
  readonly madeUpHome: (place: Place) => readonly (readonly [string, string])[];
  /** The files of every session that the CLI has a record of, by id. */
  readonly findRecords: (cliHome: string) => Promise<ReadonlyMap<string, string>>;
}

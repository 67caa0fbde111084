import type { HandleJson, ScriptedToolCall } from '@holdfast/provider-core/certification';
import type { Place } from '../place.js';

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
  readonly withoutRetries: HandleJson;
  readonly forcedPage: HandleJson;
  readonly readUserMessages: (
    cliHome: string,
    nativeSessionId: string,
  ) => Promise<readonly string[]>;
  /** The files of every session that the CLI has a record of, by id. */
  readonly findRecords: (cliHome: string) => Promise<ReadonlyMap<string, string>>;
}

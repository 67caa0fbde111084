import { NonContinuableError } from '../errors/continuation-error.js';
import { capabilitiesOf } from '../providers/ways.js';
import type { ProviderCapabilities, Way } from '../spec/capabilities.js';
import type { Logger } from '../spec/logger.js';
import type { ProviderDefinition } from '../spec/provider-definition.js';
import type { CodingProviderSessionHandle } from '../spec/provider-session-handle.js';
import { type LaunchRecord, readLaunchRecord, saveLaunchRecord } from '../state/launch-record.js';
import type { StateLayout } from '../state/state-layout.js';
import type { Clock } from '../time/clock.js';
import { isoInstant } from '../time/clock.js';
import type {
  LeaseFence,
  ProcessObservation,
  SessionContext,
  SessionTransport,
} from '../transports/session-transport.js';
import { checkStableFields } from './check-stable-fields.js';
import { refuseFenced } from './fenced-journal.js';
import type { Preflight } from './preflight.js';
import { HiddenTexts, redactingLogger } from './redacting-logger.js';

interface SessionParts {
  readonly definition: ProviderDefinition;
  /** The transport that drives the session in a way. */
  readonly transports: (way: Way) => SessionTransport;
  readonly way: Way;
  readonly layout: StateLayout;
  readonly preflight: Preflight;
  readonly record: LaunchRecord;
  readonly clock: Clock;
  readonly logger: Logger;
  /** The caller's handle: what it holds beyond our fields is handed back unchanged. */
  readonly givenHandle?: CodingProviderSessionHandle | undefined;
}

/** One provider session as the turn machine sees it: its declaration, its transport and its launch record. */
export class Session {
  readonly definition: ProviderDefinition;
  readonly layout: StateLayout;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly #transports: (way: Way) => SessionTransport;
  readonly #preflight: Preflight;
  readonly #givenHandle: CodingProviderSessionHandle | undefined;
  readonly #hidden: HiddenTexts;
  #record: LaunchRecord;
  #way: Way;
  #fence: LeaseFence | undefined;
  #saving: Promise<void> = Promise.resolve();

  constructor(parts: SessionParts) {
    this.definition = parts.definition;
    this.#transports = parts.transports;
    this.#way = parts.way;
    this.layout = parts.layout;
    this.clock = parts.clock;
    this.#preflight = parts.preflight;
    this.#record = parts.record;
    this.#givenHandle = parts.givenHandle;
    this.#hidden = new HiddenTexts(parts.record.config);
    this.logger = redactingLogger(parts.logger, this.#hidden).child({
      provider: parts.definition.id,
      native_session_id: parts.record.nativeSessionId,
    });
  }

  get record(): LaunchRecord {
    return this.#record;
  }

  /** The way this turn is driven in. */
  get way(): Way {
    return this.#way;
  }

  get transport(): SessionTransport {
    return this.transportFor(this.#way);
  }

  /** What the provider claims for the way in use. */
  get capabilities(): ProviderCapabilities {
    return capabilitiesOf(this.definition, this.#way);
  }

  get cliVersion(): string {
    return this.#preflight.cliVersion;
  }

  transportFor(way: Way): SessionTransport {
    return this.#transports(way);
  }

  /** Keeps a text out of every log line of the session. */
  hideFromLogs(text: string): void {
    this.#hidden.add(text);
  }

  /** Drives the session in another way from here on; what runs in the old one is the caller's to end. */
  useWay(way: Way): void {
    this.#way = way;
  }

  /** The transports in which a process of the session may live, each once, besides the one in use. */
  otherTransports(): readonly SessionTransport[] {
    const used = waysUsed(this.#record).map((way) => this.transportFor(way));
    return [...new Set(used)].filter((transport) => !isSame(transport, this.transport));
  }

  /** Looks for a living process in every way the session was ever driven in: alive before unknown before gone. */
  async observe(): Promise<ProcessObservation> {
    const seen = [await this.transport.observe(this.context())];
    for (const other of this.otherTransports()) seen.push(await other.observe(this.context()));
    return (
      seen.find(({ state }) => state === 'alive') ??
      seen.find(({ state }) => state === 'unknown') ?? { state: 'gone' }
    );
  }

  get nativeSessionId(): string {
    return this.#record.nativeSessionId;
  }

  /** What the transport needs to know, as of now. */
  context(): SessionContext {
    return sessionContext({
      definition: this.definition,
      layout: this.layout,
      preflight: this.#preflight,
      record: this.#record,
      clock: this.clock,
      logger: this.logger,
    });
  }

  /**
   * Changes the launch record on disk, after the changes that were begun before; the handle's revision grows with it. The
   * record is replaced once `after` has resolved, and stays as it is when that rejects.
   */
  save(change: Partial<LaunchRecord>, after?: Promise<void>): Promise<void> {
    const saved = this.#saving.then(() => this.#save(change, after));
    this.#saving = saved.catch(() => {});
    return saved;
  }

  async #save(change: Partial<LaunchRecord>, after: Promise<void> | undefined): Promise<void> {
    refuseFenced(this.#fence);
    const next: LaunchRecord = {
      ...this.#record,
      ...change,
      cliVersion: this.#preflight.cliVersion,
      revision: this.#record.revision + 1,
      updatedAt: isoInstant(this.clock),
    };
    await saveLaunchRecord(this.layout, next, { beforeInstall: () => this.#mayReplace(after) });
    this.#record = next;
  }

  /** Resolves once every change that was begun is on disk, or has failed: until then the lease is not to be given back. */
  async saved(): Promise<void> {
    await this.#saving;
  }

  async #mayReplace(after: Promise<void> | undefined): Promise<void> {
    await after;
    refuseFenced(this.#fence);
  }

  /** Reads the launch record again: under the lease it is the last owner's. The caller's volatile settings stay. */
  async refresh(): Promise<'refreshed' | 'unrecorded'> {
    const stored = await readLaunchRecord(this.layout, this.definition.id, this.nativeSessionId);
    if (!stored) return 'unrecorded';
    this.#record = { ...stored, config: this.#record.config };
    return 'refreshed';
  }

  /** The same before a turn: what another owner did meanwhile is checked, and a session adopted now gets its record. */
  async take(fence: LeaseFence): Promise<void> {
    this.#fence = fence;
    const { stableFields } = this.#record;
    if ((await this.refresh()) === 'unrecorded') {
      await saveLaunchRecord(this.layout, this.#record);
      return;
    }
    const { id, capabilities } = this.definition;
    if (this.#record.archived) throw new NonContinuableError(id, 'history', 'it was archived');
    checkStableFields(id, this.#record.stableFields, stableFields, capabilities.stableFields);
  }

  /** The durable handle, as of now. */
  handle(): CodingProviderSessionHandle {
    return { ...this.#givenHandle, ...handleOf(this.#record) };
  }
}

/** Two ways of one server are one: leaving one for the other ends nothing. */
function isSame(left: SessionTransport, right: SessionTransport): boolean {
  return left === right || (left.processes !== undefined && left.processes === right.processes);
}

/** A record of an older version knew tmux alone. */
export function waysUsed({ ways }: LaunchRecord): readonly Way[] {
  return ways ?? ['tmux'];
}

/** The handle that a launch record stands behind. */
function handleOf(record: LaunchRecord): CodingProviderSessionHandle {
  return {
    provider: record.provider,
    transport: record.transport,
    nativeSessionId: record.nativeSessionId,
    ...(record.tmuxSession === undefined ? {} : { tmuxSession: record.tmuxSession }),
    workingDir: record.config.workingDir,
    ...(record.config.model === undefined ? {} : { model: record.config.model }),
    status: record.status,
    schemaVersion: 1,
    revision: record.revision,
    stableFields: record.stableFields,
    ...(record.lastTurnId === undefined ? {} : { lastTurnId: record.lastTurnId }),
  };
}

interface ContextParts {
  readonly definition: ProviderDefinition;
  readonly layout: StateLayout;
  readonly preflight: Preflight;
  readonly record: LaunchRecord;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Builds the transport's view of a session. */
function sessionContext(parts: ContextParts): SessionContext {
  const { definition, layout, preflight, record, clock, logger } = parts;
  return {
    definition,
    config: record.config,
    binary: preflight.binary,
    cliVersion: preflight.cliVersion,
    cliHome: record.cliHome,
    nativeSessionId: record.nativeSessionId === '' ? undefined : record.nativeSessionId,
    filesDir: layout.filesDir(record.provider, record.nativeSessionId || record.nonce),
    nonce: record.nonce,
    stateDir: layout.root,
    tmuxSocket: layout.tmuxSocket,
    acknowledged: record.acknowledged,
    clock,
    logger,
  };
}

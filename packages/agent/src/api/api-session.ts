import {
  acquireLease,
  type CodingProviderSessionHandle,
  checkStableFields,
  type Lease,
  type LeaseObservation,
  NonContinuableError,
  noSignIsEnough,
  type ResolvedTurnOptions,
  readLeaseOwner,
  SessionBusyError,
  waitUntil,
} from '@holdfast/provider-core';
import { API_STABLE_FIELDS, type ApiAgentConfig, apiStableDigests } from './api-config.js';
import { type ApiLayout, apiLayout } from './api-layout.js';
import { TranscriptFile } from './transcript-file.js';

/** How often a lease that somebody holds is asked for again. */
const LEASE_POLL_MS = 50;

/** One session of an API agent: its transcript, its lease, and the handle that is read from it. */
export class ApiSession {
  readonly sessionId: string;
  readonly layout: ApiLayout;
  readonly transcript: TranscriptFile;
  readonly #provider: string;
  readonly #config: ApiAgentConfig;

  constructor(place: {
    readonly stateDir: string;
    readonly sessionId: string;
    readonly provider: string;
    readonly config: ApiAgentConfig;
  }) {
    this.sessionId = place.sessionId;
    this.layout = apiLayout(place.stateDir, place.sessionId);
    this.transcript = new TranscriptFile(this.layout.transcript, place.sessionId);
    this.#provider = place.provider;
    this.#config = place.config;
  }

  /** The handle of this moment. Inside this package the session id stands in it as the native id. */
  handle(status?: string): CodingProviderSessionHandle {
    const { header, revision, closed, lastTurn } = this.transcript.state;
    const { model, workingDir } = this.#config;
    return {
      provider: this.#provider,
      transport: 'api',
      nativeSessionId: this.sessionId,
      model,
      ...(workingDir === undefined ? {} : { workingDir }),
      status: status ?? (closed ? 'closed' : 'idle'),
      revision,
      stableFields: header?.stableFields ?? apiStableDigests(this.#provider, this.#config),
      ...(lastTurn ? { lastTurnId: lastTurn.turnId } : {}),
    };
  }

  /** Throws unless the transcript is there, is not put away, and was begun with the same stable settings. */
  checkContinuable(): void {
    const { header, archived } = this.transcript.state;
    if (!header) {
      const detail = `there is no transcript of session ${this.sessionId} in this state directory`;
      throw new NonContinuableError(this.#provider, 'history', detail);
    }
    if (archived) throw new NonContinuableError(this.#provider, 'history', 'it was archived');
    this.checkStable(header.stableFields);
  }

  /** Throws `stale_handle` naming the first stable setting that differs. */
  checkStable(stored: Readonly<Record<string, string>>): void {
    const given = apiStableDigests(this.#provider, this.#config);
    checkStableFields(this.#provider, stored, given, API_STABLE_FIELDS);
  }

  /** Makes us the one writer, or throws `session_busy`; waits when asked to. */
  async takeLease(
    { whenBusy, limits, clock }: Pick<ResolvedTurnOptions, 'whenBusy' | 'limits' | 'clock'>,
    signal: AbortSignal,
  ): Promise<Lease> {
    const tryOnce = () =>
      acquireLease({ dir: this.layout.leaseDir, foreignIsFree: noSignIsEnough, clock });
    const first = await tryOnce();
    if (first.lease) return first.lease;
    const { pid, hostId, since } = first.heldBy;
    if (whenBusy === 'fail') throw new SessionBusyError({ kind: 'ours', pid, hostId, since });
    return waitUntil(async () => (await tryOnce()).lease, {
      awaiting: 'another owner to release the session',
      deadlineMs: limits.busyMs,
      intervalMs: LEASE_POLL_MS,
      layer: 'agent',
      signal,
      clock,
    });
  }

  /** Who writes the session now. Read-only. */
  observeOwner(): Promise<LeaseObservation> {
    return readLeaseOwner(this.layout.leaseDir);
  }
}

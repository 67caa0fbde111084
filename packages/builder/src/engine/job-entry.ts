import type { Clock } from '@holdfast/agent';
import type { JobRecord } from './job-record.js';

/** A record as an engine remembers it. */
export type KnownJob = Omit<JobRecord, 'payload'>;

const NEVER = Number.POSITIVE_INFINITY;

/** What an engine knows of an open job that it does not run: when to try it, and when to look again. */
export class JobEntry {
  /** It was woken, as far as was seen: nothing it waits for counts. */
  isWoken = false;
  /** It is to be taken away. */
  isCancelled = false;
  /** Somebody waits for its owner to give a sign of life. */
  isJudged = false;
  #known: KnownJob | undefined;
  #dueAt = 0;
  #freeUntil = Number.NEGATIVE_INFINITY;
  readonly #look: GrowingPause;
  readonly #reading: GrowingPause;

  constructor(
    readonly id: string,
    readonly pollMs: number,
  ) {
    this.#look = new GrowingPause(pollMs / 2, 4 * pollMs);
    this.#reading = new GrowingPause(5 * pollMs, 60 * pollMs);
  }

  get known(): KnownJob | undefined {
    return this.#known;
  }

  /** Takes in what was read, or what we wrote ourselves. */
  learn(read: JobRecord, clock: Clock): void {
    const record = withoutPayload(read);
    const before = this.#known;
    this.#known = record;
    if (!before || !isSame(before, record)) {
      this.#reading.reset();
      this.#look.reset();
      this.#dueAt = clock.monotonicMs() + restOf(record, clock);
    }
    this.#reading.grow(clock);
  }

  /** Whether nothing but a place is missing, as far as its own record says. */
  isDue(clock: Clock): boolean {
    if (this.isWoken || this.isCancelled) return true;
    return this.#known?.state === 'waiting' && this.#isTime(this.#known, clock);
  }

  /** The monotonic instant at which to try it. */
  readyAt(clock: Clock): number {
    if (!this.#known || this.isJudged) return NEVER;
    if (this.isDue(clock)) return this.#look.endsAt;
    return this.#known.state === 'parked' ? NEVER : Math.max(this.#dueAt, this.#look.endsAt);
  }

  /** Whether its record is to be read again: somebody else may have changed what it waits for. */
  needsReading(clock: Clock): boolean {
    if (this.#known && this.isDue(clock)) return false;
    return this.#reading.endsAt <= clock.monotonicMs();
  }

  /** Nothing could be read, or not by this version. */
  postponeReading(clock: Clock): void {
    this.#reading.grow(clock);
  }

  /** A living owner has it: looks again, less and less often. */
  postponeLook(clock: Clock): void {
    this.#look.grow(clock);
  }

  /** Nobody had it a moment ago. */
  noteFree(clock: Clock): void {
    this.#freeUntil = clock.monotonicMs() + this.pollMs;
  }

  /** Whether that was seen no longer ago than a look at a queue may be. For reports: a claim looks again. */
  wasJustFree(clock: Clock): boolean {
    return clock.monotonicMs() < this.#freeUntil;
  }

  /** Looks again at once. */
  lookNow(): void {
    this.#look.reset();
  }

  #isTime({ notBefore }: KnownJob, clock: Clock): boolean {
    if (notBefore === undefined || clock.now() >= Date.parse(notBefore)) return true;
    // Where the clock was set back, the time that passed counts.
    return clock.monotonicMs() >= this.#dueAt;
  }
}

/** Field by field: that is five times as fast as to leave one out, and a start learns of every open job. */
function withoutPayload(record: JobRecord): KnownJob {
  const { queue, id, enqueuedAt, order, attempt, state } = record;
  const { reason, notBefore, waitMs, lastError, owner } = record;
  return {
    queue,
    id,
    enqueuedAt,
    order,
    attempt,
    state,
    reason,
    notBefore,
    waitMs,
    lastError,
    owner,
  };
}

function isSame(one: KnownJob, other: KnownJob): boolean {
  const { order, state, attempt, notBefore } = one;
  return (
    order === other.order &&
    state === other.state &&
    attempt === other.attempt &&
    notBefore === other.notBefore
  );
}

/** Never longer than it was when it was written, whatever the clock says now. */
function restOf({ notBefore, waitMs = NEVER }: KnownJob, clock: Clock): number {
  if (notBefore === undefined) return 0;
  return Math.min(Math.max(0, Date.parse(notBefore) - clock.now()), waitMs);
}

/** A pause that doubles each time, up to a bound. */
class GrowingPause {
  endsAt = 0;
  #nextMs: number;

  constructor(
    readonly firstMs: number,
    readonly longestMs: number,
  ) {
    this.#nextMs = firstMs;
  }

  grow(clock: Clock): void {
    this.endsAt = clock.monotonicMs() + this.#nextMs;
    this.#nextMs = Math.min(2 * this.#nextMs, this.longestMs);
  }

  reset(): void {
    this.endsAt = 0;
    this.#nextMs = this.firstMs;
  }
}

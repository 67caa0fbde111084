import type { RecordEvent } from '../../spec/record-event.js';

type TurnEnded = Extract<RecordEvent, { type: 'turn_ended' }>;

/** What the process said beside its record, to be put to a turn's end. */
export interface EndFacts {
  readonly costUsd?: number | undefined;
  readonly backgroundWork: number;
  readonly sessionUsage?: TurnEnded['sessionUsage'];
}

/**
 * Tells which end in the record is one. The record marks none: a final text may be followed by more of the same turn. The
 * process does: what it said last before it called the turn over names the row. Where it says nothing, an idle process does.
 */
export class TurnEnds {
  readonly #emit: (event: RecordEvent) => void;
  readonly #facts: () => EndFacts;
  readonly #closed = new Set<string>();
  #lastRowId: string | undefined;
  #held: { readonly event: TurnEnded; readonly rowId: string | undefined } | undefined;
  #isIdle = false;
  #isGone = false;
  #told = 0;

  constructor(emit: (event: RecordEvent) => void, facts: () => EndFacts) {
    this.#emit = emit;
    this.#facts = facts;
  }

  /** The process said something that will stand in this row. */
  said(rowId: string): void {
    this.#lastRowId = rowId;
  }

  /** The process called the turn over. */
  over(): void {
    if (this.#lastRowId !== undefined) this.#closed.add(this.#lastRowId);
    this.#lastRowId = undefined;
    this.#release();
  }

  idle(isIdle: boolean): void {
    this.#isIdle = isIdle;
    this.#release();
  }

  /** The process is gone: what stands in the record is all there will be. */
  gone(): void {
    this.#isGone = true;
    this.#release();
  }

  /** How many ends were told. */
  get told(): number {
    return this.#told;
  }

  /** The process called the turn over without an answer, and its record does not tell of it. */
  silent(): void {
    const detail = 'the turn was called over without an answer';
    this.#tell({ type: 'turn_failed', reason: 'unknown', detail });
  }

  /** Events that a row of the record told. */
  take(event: RecordEvent, rowId: string | undefined): void {
    if (event.type === 'turn_ended') {
      this.#held = { event, rowId };
      this.#release();
      return;
    }
    // The next message proves the end; anything else of the turn takes its place.
    if (event.type === 'message_accepted') this.#release(true);
    else if (event.type !== 'compaction_finished') this.#held = undefined;
    this.#tell(event);
  }

  #tell(event: RecordEvent): void {
    if (ENDS.has(event.type)) this.#told += 1;
    this.#emit(event);
  }

  #release(isProven = false): void {
    const held = this.#held;
    if (!held) return;
    const isClosed = held.rowId !== undefined && this.#closed.has(held.rowId);
    // An answer of several rows is read one by one: with one named, no other is the last.
    const isQuiet = this.#isGone || (this.#isIdle && this.#closed.size === 0);
    if (!isProven && !isClosed && !isQuiet) return;
    this.#held = undefined;
    this.#tell(addFacts(held.event, this.#facts()));
  }
}

const ENDS: ReadonlySet<string> = new Set(['turn_ended', 'turn_failed', 'turn_interrupted']);

function addFacts(
  event: TurnEnded,
  { costUsd, backgroundWork, sessionUsage }: EndFacts,
): TurnEnded {
  const usage = event.usage && costUsd !== undefined ? { ...event.usage, costUsd } : event.usage;
  return { ...event, backgroundWork, ...(usage ? { usage } : {}), sessionUsage };
}

/** The ends that a stored record tells: of several in one turn the last, if nothing of the turn follows it. */
export function keepLastEnds(events: readonly RecordEvent[]): readonly RecordEvent[] {
  const kept: RecordEvent[] = [];
  const ends = new TurnEnds(
    (event) => kept.push(event),
    () => ({ backgroundWork: 0 }),
  );
  for (const event of events) ends.take(event, undefined);
  ends.gone();
  return kept;
}

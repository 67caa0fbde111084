import { rm } from 'node:fs/promises';
import { isFinalEvent, type TurnEvent, type TurnEventBody } from '../spec/turn-event.js';
import { appendTurnEvent, followTurnEvents, readTurnEvents } from '../state/turn-events.js';
import { WriteBell } from '../state/write-bell.js';
import { type Clock, isoInstant } from '../time/clock.js';

/**
 * The events of one turn. They are kept in memory only until the turn's file is known; from then on they stand
 * in the file, and every iterator reads them from there at its own pace.
 */
export class TurnEventLog {
  readonly #turnId: string;
  readonly #clock: Clock;
  readonly #attached: Promise<string | undefined>;
  #resolveAttached: (path: string | undefined) => void = () => {};
  #path: string | undefined;
  #sequence = 0;
  #pending: TurnEvent[] = [];
  #writes: Promise<void> = Promise.resolve();
  #isOver = false;
  readonly #written = new WriteBell();
  readonly #closed = new AbortController();

  constructor(turnId: string, clock: Clock) {
    this.#turnId = turnId;
    this.#clock = clock;
    this.#attached = new Promise((resolve) => {
      this.#resolveAttached = resolve;
    });
  }

  /** Emits one event; never throws and never waits. What comes after the final event is dropped. */
  readonly emit = (body: TurnEventBody): void => {
    if (this.#isOver) return;
    this.#isOver = isFinalEvent(body);
    const event: TurnEvent = {
      ...body,
      turnId: this.#turnId,
      sequence: this.#sequence++,
      at: isoInstant(this.#clock),
    };
    if (this.#path === undefined) this.#pending.push(event);
    else this.#write(this.#path, event);
    if (this.#isOver && this.#path === undefined) this.#resolveAttached(undefined);
  };

  /** Moves the events to the turn's file. A new attempt starts its own log; a replay goes on with the old one. */
  async attach(path: string, { replay }: { readonly replay: boolean }): Promise<void> {
    if (this.#path !== undefined) return;
    if (replay) {
      const stored = await readTurnEvents(path, 0);
      const last = stored.at(-1);
      this.#isOver = last !== undefined && isFinalEvent(last);
      this.#sequence = (last?.sequence ?? -1) + 1;
      this.#pending = [];
    } else {
      await rm(path, { force: true });
    }
    this.#path = path;
    for (const event of this.#pending.splice(0)) this.#write(path, event);
    this.#resolveAttached(path);
  }

  /** Ends the log: what is written is written, and every reader comes to its end. */
  async close(): Promise<void> {
    await this.#writes;
    this.#resolveAttached(undefined);
    this.#closed.abort();
  }

  /** The events from `from` on, ending after the final one. */
  async *read(from: number): AsyncIterable<TurnEvent> {
    const path = await this.#attached;
    let next = from;
    if (path !== undefined) {
      for await (const event of this.#readWritten(path, from)) {
        next = event.sequence + 1;
        yield event;
        if (isFinalEvent(event)) return;
      }
    }
    yield* this.#pending.filter((event) => event.sequence >= next);
  }

  async *#readWritten(path: string, from: number): AsyncIterable<TurnEvent> {
    const stop = new AbortController();
    const onClosed = () => stop.abort();
    this.#closed.signal.addEventListener('abort', onClosed, { once: true });
    let next = from;
    try {
      if (!this.#closed.signal.aborted) {
        const options = { from, signal: stop.signal, changes: this.#written.listen() };
        for await (const event of followTurnEvents(path, options)) {
          next = event.sequence + 1;
          yield event;
        }
      }
      for (const event of await readTurnEvents(path, next)) yield event;
    } finally {
      this.#closed.signal.removeEventListener('abort', onClosed);
      stop.abort();
    }
  }

  #write(path: string, event: TurnEvent): void {
    // Events tell, they don't steer: a disk that cannot take one stops no turn; the event stays in memory.
    this.#writes = this.#writes
      .then(() => appendTurnEvent(path, event))
      .catch(() => {
        this.#pending.push(event);
      })
      .then(() => this.#written.ring());
  }
}

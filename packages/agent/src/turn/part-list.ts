import type { TurnPart } from './agent-turn.js';
import { createDeferred } from './deferred.js';

/** The parts of a turn in order, for any number of readers. */
export class PartList {
  readonly #parts: TurnPart[] = [];
  #ended = false;
  #changed = createDeferred<void>();

  get current(): TurnPart | undefined {
    return this.#parts.at(-1);
  }

  add(part: TurnPart): void {
    this.#parts.push(part);
    this.#wake();
  }

  end(): void {
    this.#ended = true;
    this.#wake();
  }

  at(index: number): TurnPart | undefined {
    return this.#parts[index];
  }

  /**
   * Resolves to whether there is a part at `index`, as soon as that is known. It does not give the part: a part is a
   * turn, and awaiting a turn waits for its end.
   */
  async has(index: number): Promise<boolean> {
    while (this.#parts[index] === undefined && !this.#ended) await this.#changed.promise;
    return this.#parts[index] !== undefined;
  }

  #wake(): void {
    this.#changed.resolve();
    this.#changed = createDeferred<void>();
  }
}

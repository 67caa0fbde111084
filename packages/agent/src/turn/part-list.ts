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

  /** The part at `index` as soon as it is there; `undefined` once no more will come. */
  async waitFor(index: number): Promise<TurnPart | undefined> {
    while (this.#parts[index] === undefined && !this.#ended) await this.#changed.promise;
    return this.#parts[index];
  }

  #wake(): void {
    this.#changed.resolve();
    this.#changed = createDeferred<void>();
  }
}

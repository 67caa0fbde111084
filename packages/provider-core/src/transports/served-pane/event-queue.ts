/** Values from several sources in the order they came, for one reader. */
export class EventQueue<Value> implements AsyncIterable<Value> {
  readonly #values: Value[] = [];
  #wake: (() => void) | undefined;
  #isEnded = false;
  #failure: { readonly error: unknown } | undefined;

  push(value: Value): void {
    if (this.#isEnded) return;
    this.#values.push(value);
    this.#wake?.();
  }

  /** What was pushed so far is still given out. */
  end(): void {
    this.#isEnded = true;
    this.#wake?.();
  }

  /** Like {@link end}, and then the iteration throws. */
  fail(error: unknown): void {
    this.#failure ??= { error };
    this.end();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Value, void, undefined> {
    for (;;) {
      const value = this.#values.shift();
      if (value !== undefined) yield value;
      else if (this.#failure) throw this.#failure.error;
      else if (this.#isEnded) return;
      else {
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
        this.#wake = undefined;
      }
    }
  }
}

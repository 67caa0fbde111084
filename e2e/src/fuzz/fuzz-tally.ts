/** What became of the texts of one class in one cell. */
export interface ClassCount {
  accepted: number;
  refused: number;
  readonly reasons: Set<string>;
}

/** Counts what a cell did with the corpus, and keeps what it did wrong. */
export class FuzzTally {
  readonly classes = new Map<string, ClassCount>();
  readonly faults: string[] = [];

  accepted(name: string): void {
    this.#of(name).accepted += 1;
  }

  refused(name: string, reason: string): void {
    const count = this.#of(name);
    count.refused += 1;
    count.reasons.add(reason);
  }

  fault(name: string, text: string, what: string): void {
    this.#of(name);
    this.faults.push(`${name}: ${JSON.stringify(text.slice(0, 60))}: ${what}`);
  }

  #of(name: string): ClassCount {
    const count = this.classes.get(name) ?? { accepted: 0, refused: 0, reasons: new Set() };
    this.classes.set(name, count);
    return count;
  }
}

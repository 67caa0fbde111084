import { mapAtMost } from './at-most.js';
import { JobEntry } from './job-entry.js';
import { namesOf } from './job-keys.js';
import type { JobRecord } from './job-record.js';
import { readJob } from './job-store.js';
import type { QueueContext } from './queue-context.js';
import { tidyNote } from './tidy-note.js';

/** How many records are read at once. */
const READ_AT_ONCE = 16;

/** A job that could not be used. */
export interface UnusableJob {
  readonly id: string;
  readonly detail: string;
}

/** The open jobs of a queue, as far as this process has seen: a listing finds what others did. */
export class OpenJobs {
  readonly #context: QueueContext;
  readonly #entries = new Map<string, JobEntry>();

  constructor(context: QueueContext) {
    this.#context = context;
  }

  get all(): readonly JobEntry[] {
    return [...this.#entries.values()];
  }

  get(id: string): JobEntry | undefined {
    return this.#entries.get(id);
  }

  /** Takes in what stands on disk of a job. */
  learn(record: JobRecord): JobEntry {
    const entry = this.#entryOf(record.id);
    entry.learn(record, this.#context.clock);
    return entry;
  }

  forget(id: string): void {
    this.#entries.delete(id);
  }

  /** Its record is to be read again, since what is known of it is no longer sure. */
  doubt(id: string): void {
    this.#entries.delete(id);
    this.#entryOf(id);
  }

  /**
   * Lists what stands on disk and reads what is new. Gives the orders that are to be taken away, and the jobs that could not be
   * used; those were set aside or, where a newer version wrote them, left as they are.
   */
  async look(): Promise<{
    readonly cancels: ReadonlySet<string>;
    readonly unusable: readonly UnusableJob[];
  }> {
    const { store, keys } = this.#context;
    const before = this.all;
    const wokenBefore = before.filter(({ isWoken }) => isWoken);
    const [jobs, wakes, cancels] = await Promise.all(
      [keys.jobs, keys.wakes, keys.cancels].map(
        async (key) => new Set(namesOf(await store.list(key))),
      ),
    );
    if (!jobs || !wakes || !cancels) throw new Error('unreachable: three listings');
    // Only what was known before: a listing may be older than a job that was enqueued since.
    for (const { id } of before) if (!jobs.has(id)) this.forget(id);
    for (const id of jobs) this.#entryOf(id);
    const unusable = await this.#read();
    for (const entry of wokenBefore) entry.isWoken = false;
    const strange = [...this.#note(wakes, 'isWoken'), ...this.#note(cancels, 'isCancelled')];
    for (const order of strange) await this.#tidy(order);
    return { cancels, unusable };
  }

  async #read(): Promise<readonly UnusableJob[]> {
    const wanted = this.all.filter((entry) => entry.needsReading(this.#context.clock));
    const read = await mapAtMost(READ_AT_ONCE, wanted, (entry) => this.#readOne(entry));
    return read.filter((one) => one !== undefined);
  }

  async #readOne(entry: JobEntry): Promise<UnusableJob | undefined> {
    const { clock, keys, logger } = this.#context;
    const { id } = entry;
    try {
      const found = await readJob(this.#context, id);
      if (found.state === 'present') return void entry.learn(found.record, clock);
      if (found.state === 'newer') entry.postponeReading(clock);
      else this.forget(id);
      return found.state === 'absent' ? undefined : { id, detail: found.detail };
    } catch (error) {
      // Unreadable is unknown: its neighbours go on, and it is read again.
      entry.postponeReading(clock);
      logger?.warn({ queue: keys.queue, job_id: id, err: error }, 'job not read');
      return { id, detail: error instanceof Error ? error.message : String(error) };
    }
  }

  /** Marks whom the notes are for, and gives those that are for nobody who is known. */
  #note(orders: ReadonlySet<string>, mark: 'isWoken' | 'isCancelled'): readonly string[] {
    if (orders.size === 0) return [];
    const known = new Map(this.all.map((entry) => [entry.known?.order, entry]));
    return [...orders].filter((order) => {
      const entry = known.get(order);
      if (entry) entry[mark] = true;
      return !entry;
    });
  }

  async #tidy(order: string): Promise<void> {
    const { keys, logger } = this.#context;
    try {
      await tidyNote(this.#context, order);
    } catch (error) {
      logger?.warn({ queue: keys.queue, order, err: error }, 'note of a job not taken away');
    }
  }

  #entryOf(id: string): JobEntry {
    const entry = this.#entries.get(id) ?? new JobEntry(id, this.#context.pollMs);
    this.#entries.set(id, entry);
    return entry;
  }
}

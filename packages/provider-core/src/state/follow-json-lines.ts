import { closeSync, type FSWatcher, fstatSync, openSync, statSync, watch } from 'node:fs';
import { basename, dirname } from 'node:path';
import { type Clock, systemClock } from '../time/clock.js';
import { JsonLineReader, readChunks } from './json-lines.js';
import { isAbsentError, readError } from './state-error.js';

/** How long a change may go unseen when the system tells nothing. */
const SAFETY_POLL_MS = 250;
/** The same while there is no folder to watch yet. */
const UNWATCHED_POLL_MS = 50;

/** A line that was appended, or word that the file was cut or is another one now and is read from its start. */
export type FollowedLine =
  | { readonly value: unknown; readonly offset: number; readonly replaced?: undefined }
  | { readonly replaced: true };

/** Where to begin, and when to stop. */
export interface FollowOptions {
  readonly fromByte?: number | undefined;
  /** Device and inode of the file that `fromByte` belongs to; another one is told as replaced. */
  readonly fileId?: string | undefined;
  readonly signal: AbortSignal;
  readonly clock?: Clock | undefined;
  /** Who tells of what is appended; the system when absent. */
  readonly changes?: FileChanges | undefined;
}

/** Tells a follower that there may be more to read. */
export interface FileChanges extends Disposable {
  /** From here on no change is missed. */
  readonly arm: () => void;
  /** Resolves at the next change, at once when there was one since, or when the signal aborts. */
  readonly nextChange: (signal: AbortSignal, clock: Clock) => Promise<void>;
}

/**
 * Gives every line from `fromByte` on, then each new one as it is appended, until the signal aborts
 * (the iteration just ends). The file may come later. A line that is no JSON has `value` undefined.
 */
export async function* followJsonLines(
  path: string,
  { fromByte = 0, fileId, signal, clock = systemClock, changes }: FollowOptions,
): AsyncGenerator<FollowedLine, void, undefined> {
  using file = new FollowedFile(path, fromByte, fileId);
  using watcher = changes ?? new PathWatcher(path);
  while (!signal.aborted) {
    // Before reading, so that what is appended while we read wakes us again.
    watcher.arm();
    for await (const line of file.readOn()) {
      if (signal.aborted) return;
      yield line;
    }
    await watcher.nextChange(signal, clock);
  }
}

/** The file as it is read on, over its creation, its rename and its cutting. */
class FollowedFile implements Disposable {
  readonly #path: string;
  #file: number | undefined;
  #fileId: string | undefined;
  #reader: JsonLineReader;
  #position: number;

  constructor(path: string, fromByte: number, fileId: string | undefined) {
    this.#path = path;
    this.#fileId = fileId;
    this.#position = fromByte;
    this.#reader = new JsonLineReader(fromByte);
  }

  async *readOn(): AsyncGenerator<FollowedLine> {
    const found = this.#look();
    if (!found) {
      // Its inode number may come again once we let go, so a later file is another one by rule.
      if (this.#file !== undefined) this.#fileId = 'gone';
      this.#close();
      return;
    }
    // What was appended to the old file before it was replaced is still read.
    if (this.#file !== undefined && found.fileId !== this.#fileId) {
      yield* this.#readLines(this.#file);
      this.#close();
    }
    const isReplaced = this.#fileId !== undefined && found.fileId !== this.#fileId;
    if (isReplaced || found.size < this.#position) {
      this.#position = 0;
      this.#reader = new JsonLineReader();
      yield { replaced: true };
    }
    const file = this.#open();
    if (file !== undefined) yield* this.#readLines(file);
  }

  #look(): { readonly fileId: string; readonly size: number } | undefined {
    try {
      const { dev, ino, size } = statSync(this.#path);
      return { fileId: `${dev}:${ino}`, size };
    } catch (error) {
      if (isAbsentError(error)) return undefined;
      throw readError(this.#path, error);
    }
  }

  #open(): number | undefined {
    if (this.#file !== undefined) return this.#file;
    try {
      const file = openSync(this.#path, 'r');
      this.#file = file;
      const { dev, ino } = fstatSync(file);
      this.#fileId = `${dev}:${ino}`;
      return file;
    } catch (error) {
      if (isAbsentError(error)) return undefined;
      throw readError(this.#path, error);
    }
  }

  async *#readLines(file: number): AsyncGenerator<FollowedLine> {
    for await (const chunk of readChunks(file, this.#position)) {
      this.#position += chunk.length;
      for (const { value, offset } of this.#reader.push(chunk)) yield { value, offset };
    }
  }

  #close(): void {
    const file = this.#file;
    this.#file = undefined;
    if (file !== undefined) closeSync(file);
  }

  [Symbol.dispose](): void {
    this.#close();
  }
}

/** Tells that something happened at a path. Watches the folder, since a watched file is deaf after a rename. */
class PathWatcher implements FileChanges {
  readonly #path: string;
  #watcher: FSWatcher | undefined;
  #folderId: string | undefined;
  #changed = false;
  #wake: (() => void) | undefined;

  constructor(path: string) {
    this.#path = path;
  }

  /** From here on no change is missed. Watches whatever folder stands there now: the old one may be gone. */
  arm(): void {
    this.#changed = false;
    const folderId = fileIdOf(dirname(this.#path));
    if (this.#watcher && folderId === this.#folderId) return;
    this.#watcher?.close();
    this.#watcher = this.#watch();
    this.#folderId = folderId;
  }

  /** Resolves at the next change, after the safety poll, or when the signal aborts. */
  async nextChange(signal: AbortSignal, clock: Clock): Promise<void> {
    if (this.#changed || signal.aborted) return;
    const woken = new AbortController();
    const wake = () => woken.abort();
    this.#wake = wake;
    signal.addEventListener('abort', wake, { once: true });
    try {
      await clock.sleep(this.#watcher ? SAFETY_POLL_MS : UNWATCHED_POLL_MS, woken.signal);
    } catch (error) {
      if (!woken.signal.aborted) throw error;
    } finally {
      this.#wake = undefined;
      signal.removeEventListener('abort', wake);
    }
  }

  #watch(): FSWatcher | undefined {
    try {
      const name = basename(this.#path);
      const watcher = watch(dirname(this.#path), { persistent: false }, (_event, changed) => {
        if (changed === null || changed === name) this.#note();
      });
      // A watch that breaks costs speed, not truth: the poll goes on.
      watcher.on('error', () => {
        watcher.close();
        if (this.#watcher === watcher) this.#watcher = undefined;
      });
      return watcher;
    } catch {
      // No such folder yet, or no watches left on this machine.
      return undefined;
    }
  }

  #note(): void {
    this.#changed = true;
    this.#wake?.();
  }

  [Symbol.dispose](): void {
    this.#watcher?.close();
    this.#watcher = undefined;
  }
}

function fileIdOf(path: string): string | undefined {
  const found = statSync(path, { throwIfNoEntry: false });
  return found && `${found.dev}:${found.ino}`;
}

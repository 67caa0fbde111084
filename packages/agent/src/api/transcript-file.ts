import { truncate } from 'node:fs/promises';
import {
  appendJsonLine,
  faultPoint,
  isoInstant,
  type Lease,
  readJsonLines,
  SessionBusyError,
  StateUnusableError,
  systemClock,
} from '@holdfast/provider-core';
import { decodeTranscriptRecord, encodeTranscriptRecord } from './transcript.wire.js';
import type { TranscriptBody } from './transcript-record.js';
import { TranscriptState } from './transcript-state.js';

/** One session's transcript on disk. Read by anybody; written only by who holds the session's lease. */
export class TranscriptFile {
  readonly #path: string;
  readonly #sessionId: string;
  #state = new TranscriptState();
  #fileId: string | undefined;
  #endOffset = 0;
  /** A write of ours failed: nobody knows how much of its line stands there. */
  #isUnsure = false;

  constructor(path: string, sessionId: string) {
    this.#path = path;
    this.#sessionId = sessionId;
  }

  /** What was read and written so far. */
  get state(): TranscriptState {
    return this.#state;
  }

  /**
   * Reads what was added since the last time. A line that is no JSON in the middle is damage: what it said is unknown, and
   * a tool might have been called. Half a line at the end was never gone on from and counts as not written.
   */
  async refresh(): Promise<TranscriptState> {
    const read = await readJsonLines(this.#path, { fromByte: this.#endOffset });
    if (read === 'absent') this.#forget();
    else if (read.size < this.#endOffset || (this.#fileId ?? read.fileId) !== read.fileId) {
      this.#forget();
      return this.refresh();
    } else {
      for (const { value } of read.lines) this.#take(value);
      this.#fileId = read.fileId;
      this.#endOffset = read.endOffset;
    }
    return this.#state;
  }

  /** Cuts half a line of a dead owner, which would come to stand in the middle. Only for the lease's holder. */
  async repair(lease: Lease): Promise<void> {
    const read = await readJsonLines(this.#path, { fromByte: this.#endOffset });
    if (read === 'absent' || !read.tornTail) return;
    refuseFenced(lease);
    await truncate(this.#path, read.endOffset);
  }

  /** Adds a line; with `sync` it is durable when this resolves. An owner that lost the lease writes nothing. */
  async append(
    body: TranscriptBody,
    lease: Lease,
    { sync }: { readonly sync: boolean },
  ): Promise<void> {
    refuseFenced(lease);
    if (this.#isUnsure) {
      await this.refresh();
      await this.repair(lease);
    }
    const record = { ...body, at: isoInstant(systemClock) };
    const json = encodeTranscriptRecord(record);
    this.#isUnsure = true;
    await appendJsonLine(this.#path, json, { sync });
    this.#isUnsure = false;
    this.#endOffset += Buffer.byteLength(JSON.stringify(json)) + 1;
    this.#state.apply(record);
    faultPoint(`api:${body.type}`);
  }

  #take(value: unknown): void {
    if (value === undefined) throw this.#damaged('a line in it is no JSON');
    const record = decodeTranscriptRecord(value, this.#path);
    const isFirst = this.#state.revision === 0;
    if (isFirst !== (record.type === 'session_opened')) {
      throw this.#damaged('its first line is not the one that opens a session');
    }
    if (record.type === 'session_opened' && record.sessionId !== this.#sessionId) {
      throw this.#damaged(`it belongs to session ${record.sessionId}`);
    }
    this.#state.apply(record);
  }

  #damaged(why: string): StateUnusableError {
    return new StateUnusableError(
      this.#path,
      'damaged',
      `${why}. Nothing was sent; repair the transcript or start a new session.`,
    );
  }

  #forget(): void {
    this.#state = new TranscriptState();
    this.#fileId = undefined;
    this.#endOffset = 0;
  }
}

function refuseFenced(lease: Lease): void {
  if (!lease.isCurrent()) throw new SessionBusyError({ kind: 'ours' });
}

/**
 * A CLI driven as one persistent process that reads and writes JSON lines. Data and pure functions only: the
 * stream-process transport starts the process, writes, reads and ends it.
 */
export interface StreamProcess {
  readonly kind: 'stream_process';
}

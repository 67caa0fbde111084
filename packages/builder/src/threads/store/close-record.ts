import type { Clock } from '@holdfast/agent';
import { CodingThreadError } from '../coding-thread-error.js';
import { archiveNatively, type CloseOptions, findLackOfTime } from './close-effect.js';
import { type ThreadOperation, type ThreadRecord, withOperation } from './thread-record.js';

interface CloseRecordOptions extends CloseOptions {
  readonly clock: Clock;
  readonly write: (record: ThreadRecord) => Promise<void>;
  /** Of a close directive: kept once it is done, so that its repeat is answered. */
  readonly operation?: ThreadOperation | undefined;
}

/**
 * Closes a thread: a marker, the archive, then the end. Says why where that is not proven; the thread then stands as
 * before. Without time nothing is written.
 */
export async function closeRecord(
  record: ThreadRecord,
  options: CloseRecordOptions,
): Promise<string | undefined> {
  const { effect, clock, write, operation } = options;
  const lack = findLackOfTime(options);
  if (lack !== undefined) return lack;
  const { nativeId, closingFrom = record.state === 'FAILED' ? 'FAILED' : 'READY' } = record;
  if (effect.archive === 'native' && nativeId !== undefined) {
    await write({ ...record, state: 'CLOSING', closingFrom });
    const closeError = await archiveNatively(options, nativeId, clock);
    if (closeError !== undefined) {
      await write({ ...record, state: closingFrom, closingFrom: undefined, closeError });
      return closeError;
    }
  }
  const closed = {
    ...record,
    state: 'CLOSED',
    closingFrom: undefined,
    closeError: undefined,
  } as const;
  await write(operation ? withOperation(closed, operation) : closed);
  return undefined;
}

/** A close directive whose archive is not proven. */
export function closeUnproven(
  sessionRef: string,
  closeError: string,
  cause?: unknown,
): CodingThreadError {
  return new CodingThreadError(
    'thread_close_unproven',
    `The thread is not proven to be closed: ${closeError}. It stays closable with the same checkpoint.`,
    { sessionRef, evidence: { closeError } },
    cause === undefined ? undefined : { cause },
  );
}

import type { RecordCursor } from '../../spec/record-event.js';
import type { StreamProcess, UsageCounter } from '../../spec/stream-process.js';
import { readJsonLines } from '../../state/json-lines.js';

interface CountedRecord {
  readonly counter: UsageCounter;
  readonly fileId: string | undefined;
  countedTo: number;
}

/** A record that was forgotten is read again. */
const MAX_COUNTED = 200;

const counted = new Map<string, CountedRecord>();

/**
 * The counter of a session's tokens, which has seen its record up to the cursor. A long record is read once in the life of
 * a service; to be shown a row twice changes nothing.
 */
export async function countUsage(
  way: Pick<StreamProcess, 'createUsageCounter'>,
  { path, fileId, length }: RecordCursor,
): Promise<UsageCounter> {
  if (path === undefined) return way.createUsageCounter();
  const known = counted.get(path);
  const isSame = known !== undefined && known.fileId === fileId && known.countedTo <= length;
  const record = isSame ? known : { counter: way.createUsageCounter(), fileId, countedTo: 0 };
  // Last used, last forgotten: a service that lives long may see any number of sessions.
  counted.delete(path);
  counted.set(path, record);
  const [oldest] = counted.keys();
  if (counted.size > MAX_COUNTED && oldest !== undefined) counted.delete(oldest);
  if (record.countedTo === length) return record.counter;
  const found = await readJsonLines(path, { fromByte: record.countedTo });
  if (found === 'absent') return record.counter;
  for (const { value } of found.lines) record.counter.push(value);
  record.countedTo = found.endOffset;
  return record.counter;
}

import type { SteerSign } from '../../spec/typed-pane.js';
import { readTranscriptRow } from './record.wire.js';
import { readRowText } from './row-text.js';
import { readQueueRow } from './steer-sign.wire.js';

/**
 * What a row says of a text that was sent while a turn ran. The CLI queues it, and takes it in after the next tool, or
 * runs it once the turn is over.
 */
export function readSteerSign(value: unknown, text: string): SteerSign | undefined {
  const queued = readQueueRow(value);
  if (queued) {
    return queued.operation === 'enqueue' && queued.content === text ? 'held' : undefined;
  }
  const row = readTranscriptRow(value);
  if (row?.type === 'attachment') {
    const { attachment } = row;
    return attachment?.type === 'queued_command' && attachment.prompt === text
      ? 'taken_in'
      : undefined;
  }
  if (row?.type !== 'user' || row.isMeta || row.isSidechain) return undefined;
  return readRowText(row) === text ? 'own_turn' : undefined;
}

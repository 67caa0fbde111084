import type { UsageCounter } from '../../spec/stream-process.js';
import { sumUsage } from './answer.js';
import { readTranscriptRow, type TranscriptRow } from './record.wire.js';

/** Adds up a transcript. A subagent's rows count too: they were paid for. */
export function createUsageCounter(): UsageCounter {
  // One row a message: each repeats the usage of the whole message, the last one in full.
  const byMessage = new Map<string | undefined, TranscriptRow>();
  return {
    push: (value) => {
      const row = readTranscriptRow(value);
      const isSpoken = row?.type === 'assistant' && row.message?.model !== '<synthetic>';
      if (!isSpoken || !row.message?.usage) return;
      const { id, usage } = row.message;
      byMessage.set(id ?? row.uuid, { type: row.type, uuid: row.uuid, message: { id, usage } });
    },
    total: () => sumUsage([...byMessage.values()]),
  };
}

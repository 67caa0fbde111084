import {
  appendJsonLine,
  type CodingProviderSessionHandle,
  readJsonLines,
} from '@holdfast/provider-core';
import type { AgentLayout } from '../agent-layout.js';
import { foldHistory, type HeldMessage, type HistoryLine } from './session-history.js';
import { decodeHistoryLine, encodeHistoryLine } from './session-history.wire.js';

/** What our own turns put into native sessions, on disk: digests only, no text. */
export interface HistoryStore {
  /** `undefined` for a session of which no history was ever kept here. */
  readonly load: (
    handle: CodingProviderSessionHandle,
  ) => Promise<readonly HeldMessage[] | undefined>;
  /** Durable when it resolves. Lines may be appended by several processes and stand twice. */
  readonly append: (handle: CodingProviderSessionHandle, line: HistoryLine) => Promise<void>;
}

/** The history files of one state directory. */
export function createHistoryStore(layout: AgentLayout): HistoryStore {
  return {
    load: async (handle) => {
      const path = layout.historyFile(handle);
      const read = await readJsonLines(path);
      if (read === 'absent') return undefined;
      // A line that is no JSON was torn by a crash: whoever wrote it never went on.
      const whole = read.lines.filter(({ value }) => value !== undefined);
      return foldHistory(whole.map(({ value }) => decodeHistoryLine(value, path)));
    },
    append: (handle, line) =>
      appendJsonLine(layout.historyFile(handle), encodeHistoryLine(line), { sync: true }),
  };
}

import * as z from 'zod';
import type { HistoryRetention } from '../../spec/provider-definition.js';

const settings = z.looseObject({ cleanupPeriodDays: z.number().nonnegative() });

/** The CLI deletes transcripts that nothing was written to for this long, each time it starts. */
export const historyRetention: HistoryRetention = {
  defaultDays: 30,
  settingsFile: 'settings.json',
  readDays: (value) => settings.safeParse(value).data?.cleanupPeriodDays,
};

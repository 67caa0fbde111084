import * as z from 'zod';

const cursor = z.looseObject({
  path: z.string().optional(),
  fileId: z.string().optional(),
  length: z.number(),
  lastRecordId: z.string().optional(),
});

/** Where a turn begins in the record, and in the output of its process, and what the process had cost by then. */
export const turnMarkSchema = z.looseObject({
  framesFrom: z.number(),
  /** Absent when the process had not told it yet. */
  costUsdBefore: z.number().optional(),
  cursor,
});

/** The mark of the last turn. */
export type TurnMark = z.output<typeof turnMarkSchema>;

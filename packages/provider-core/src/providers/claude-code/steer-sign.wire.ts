import * as z from 'zod';

const queueRow = z.looseObject({
  type: z.literal('queue-operation'),
  operation: z.string(),
  content: z.unknown().optional(),
});

/** One row on the CLI's own queue; absent when it is none. */
export function readQueueRow(value: unknown): z.output<typeof queueRow> | undefined {
  return queueRow.safeParse(value).data;
}

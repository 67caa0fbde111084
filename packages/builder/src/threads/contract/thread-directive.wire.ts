import * as z from 'zod';
import type { ThreadReceipt } from '../coding-job.js';
import { safeId, uuid } from './field-rules.wire.js';

/** Where a conversation begins, goes on or ends. */
export const threadDirective = z
  .strictObject({
    runnerId: safeId,
    sessionRef: uuid,
    stageId: safeId,
    mode: z.enum(['new', 'resume', 'close']),
    expectedCheckpoint: uuid.optional(),
    closeAfterTurn: z.boolean().optional(),
    operationId: safeId.optional(),
  })
  .refine(
    ({ mode, expectedCheckpoint }) => (mode === 'new') === (expectedCheckpoint === undefined),
    {
      path: ['expectedCheckpoint'],
      error: 'is required for resume and close, and forbidden for new',
    },
  )
  .refine(({ mode, closeAfterTurn }) => mode !== 'close' || closeAfterTurn !== true, {
    path: ['closeAfterTurn'],
    error: 'needs a turn, which close has not',
  });

const receipt = z
  .strictObject({
    sessionRef: uuid,
    checkpoint: uuid,
    state: z.enum(['READY', 'CLOSED']),
    closeError: z.string().optional(),
  })
  .refine(({ state, closeError }) => state === 'READY' || closeError === undefined);

/** Reads a receipt; `undefined` for anything else. */
export function findReceipt(value: unknown): ThreadReceipt | undefined {
  const parsed = receipt.safeParse(value);
  return parsed.success ? parsed.data : undefined;
}

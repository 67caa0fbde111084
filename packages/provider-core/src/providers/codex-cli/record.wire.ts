import * as z from 'zod';
import { errorInfoSchema } from './failure.wire.js';

// Only what is read is declared: a newer Codex adds fields, and a line that does not fit is skipped.

const textPartSchema = z.looseObject({ type: z.string(), text: z.string().optional() });

/** A line of a rollout, before its payload is known. */
export const lineSchema = z.looseObject({
  type: z.string(),
  timestamp: z.string().optional(),
  ordinal: z.number().optional(),
  payload: z.looseObject({ type: z.string().optional() }),
});

export const sessionMetaSchema = z.looseObject({ id: z.string() });

export const itemCompletedSchema = z.looseObject({
  turn_id: z.string().optional(),
  item: z.looseObject({
    type: z.string(),
    id: z.string().optional(),
    client_id: z.string().nullish(),
    content: z.array(textPartSchema).optional().catch([]),
  }),
});

export const taskCompleteSchema = z.looseObject({
  turn_id: z.string(),
  last_agent_message: z.string().nullish(),
  error: z
    .looseObject({ message: z.string().catch(''), codex_error_info: errorInfoSchema })
    .nullish(),
});

export const turnAbortedSchema = z.looseObject({ turn_id: z.string().nullish() });

export const tokensSchema = z.looseObject({
  input_tokens: z.number(),
  output_tokens: z.number(),
  cached_input_tokens: z.number().optional(),
  cache_write_input_tokens: z.number().optional(),
});

export const usageRecordSchema = z.looseObject({
  turn_id: z.string(),
  turn_token_usage: tokensSchema,
  thread_token_usage: tokensSchema.optional().catch(undefined),
});

const limitSchema = z
  .looseObject({ used_percent: z.number(), resets_at: z.number().nullish() })
  .nullish()
  .catch(undefined);

export const tokenCountSchema = z.looseObject({
  rate_limits: z.looseObject({ primary: limitSchema, secondary: limitSchema }).nullish(),
});

export const toolCallSchema = z.looseObject({
  name: z.string().optional(),
  call_id: z.string(),
});

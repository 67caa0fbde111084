import * as z from 'zod';
import { snakeCaseCodec } from '../wire/snake-case-codec.js';

/** A start as it stands on disk. */
export const startRecordCodec = snakeCaseCodec({
  turn_id: z.string().min(1),
  message_digest: z.string(),
  provider: z.string().min(1),
  config_digest: z.string(),
  native_session_id: z.string().optional(),
  abandoned_native_ids: z.array(z.string()).readonly(),
  created_at: z.string(),
});

import { snakeCaseCodec } from '@holdfast/agent';
import * as z from 'zod';

/** A message as it stands in records and logs. */
export const messageWire = z.union([
  z.string(),
  z
    .array(
      z.union([
        z.object({ type: z.literal('text'), text: z.string() }),
        snakeCaseCodec({ type: z.literal('image'), media_type: z.string(), data: z.string() }),
      ]),
    )
    .readonly(),
]);

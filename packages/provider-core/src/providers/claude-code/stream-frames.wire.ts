import * as z from 'zod';
import { content } from './record.wire.js';

const streamFrame = z.looseObject({
  type: z.string(),
  subtype: z.string().optional(),
  uuid: z.string().optional(),
  session_id: z.string().optional(),
  parent_tool_use_id: z.string().nullish(),
  state: z.string().optional(),
  cwd: z.string().optional(),
  model: z.string().optional(),
  permissionMode: z.string().optional(),
  status: z.string().nullish(),
  message: z.looseObject({ content: content.optional() }).optional(),
  event: z
    .looseObject({
      type: z.string(),
      delta: z.looseObject({ type: z.string(), text: z.string().optional() }).optional(),
    })
    .optional(),
  origin: z.looseObject({ kind: z.string().optional() }).optional(),
  is_error: z.boolean().optional(),
  result: z.string().optional(),
  stop_reason: z.string().nullish(),
  terminal_reason: z.string().optional(),
  api_error_status: z.number().nullish(),
  total_cost_usd: z.number().optional(),
  task_id: z.string().optional(),
  is_backgrounded: z.boolean().optional(),
  patch: z.looseObject({ status: z.string().optional() }).optional(),
  tasks: z.array(z.looseObject({ task_id: z.string() })).optional(),
  response: z
    .looseObject({
      subtype: z.string(),
      request_id: z.string(),
      response: z
        .looseObject({ cancelled: z.boolean().optional(), text: z.string().optional() })
        .optional(),
    })
    .optional(),
});

/** One line of the CLI's stream, as far as it is used. */
export type StreamFrame = z.output<typeof streamFrame>;

/** The fields of a stream line that are used; absent when it is none. */
export function readStreamFrame(value: unknown): StreamFrame | undefined {
  return streamFrame.safeParse(value).data;
}

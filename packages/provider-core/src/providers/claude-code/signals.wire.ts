import * as z from 'zod';

const spoolRow = z.looseObject({
  hook: z.string(),
  verdict: z.string().optional(),
  token: z.string().optional(),
  mode: z.string().optional(),
  payload: z
    .looseObject({
      session_id: z.string().optional(),
      agent_id: z.string().optional(),
      cwd: z.string().optional(),
      model: z.string().optional(),
      prompt: z.string().optional(),
      prompt_id: z.string().optional(),
      last_assistant_message: z.string().optional(),
      background_tasks: z.array(z.unknown()).optional(),
      error: z.string().optional(),
      error_details: z.string().optional(),
      notification_type: z.string().optional(),
      message: z.string().optional(),
      tool_name: z.string().optional(),
    })
    .optional(),
});

/** One line of the spool, as our own scripts write it. */
export type SpoolRow = z.output<typeof spoolRow>;

/** The fields of a spool line that are used; absent when it is none. */
export function readSpoolRow(value: unknown): SpoolRow | undefined {
  return spoolRow.safeParse(value).data;
}

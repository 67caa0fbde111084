import * as z from 'zod';

/** The first event of `exec --json`. */
export const threadStartedSchema = z.looseObject({
  type: z.literal('thread.started'),
  thread_id: z.string(),
});

/** The line of a rollout that says what a turn runs with. */
export const turnContextSchema = z.looseObject({
  type: z.literal('turn_context'),
  payload: z.looseObject({ sandbox_policy: z.looseObject({ type: z.string() }) }),
});

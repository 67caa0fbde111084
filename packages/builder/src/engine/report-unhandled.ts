import { namesOf } from './job-keys.js';
import type { QueueAccess } from './queue-context.js';
import type { QueueSurvey } from './queue-runner.js';

/** The jobs of a queue that nobody here runs: they stay as they are. */
export async function reportUnhandled({ store, keys }: QueueAccess): Promise<QueueSurvey> {
  const { queue } = keys;
  const detail = `No handler was given for the queue ${queue}.`;
  const ids = namesOf(await store.list(keys.jobs));
  return { queued: [], left: ids.map((id) => ({ queue, id, reason: 'no_handler', detail })) };
}

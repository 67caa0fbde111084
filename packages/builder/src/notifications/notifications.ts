import { type Clock, systemClock } from '@holdfast/agent';
import type { BuilderContext } from '../builder-context.js';
import type { JobEngine, JobHandler } from '../engine/job-engine.js';
import type { OutboxEntry, OutboxState } from './notification.js';
import type { Outbox } from './outbox.js';

/** The queue of the entries that were asked to be delivered again. */
export const NOTIFICATION_QUEUE = 'notifications';

/** The notifications of one data directory. */
export interface Notifications {
  /** Every entry, or those in one state, oldest first. */
  readonly list: (filter?: {
    readonly state?: OutboxState | undefined;
  }) => Promise<readonly OutboxEntry[]>;
  /** The entry, or `unknown_notification`. */
  readonly get: (notificationId: string) => Promise<OutboxEntry>;
  /**
   * Delivers what was given up once more, its attempts forgotten, and tries at once what waits. It resolves when that is
   * on disk and queued; `get` tells what becomes of it.
   */
  readonly retry: (notificationId: string) => Promise<OutboxEntry>;
}

/** What the view of the outbox needs of a builder. */
export interface NotificationsContext extends Pick<BuilderContext, 'checkOpen'> {
  readonly engine: Pick<JobEngine, 'enqueue' | 'wake'>;
}

/** The view that a service has of the outbox. */
export function createNotifications(
  outbox: Outbox,
  { engine, checkOpen }: NotificationsContext,
): Notifications {
  return {
    list: outbox.list,
    get: outbox.get,
    retry: async (notificationId) => {
      checkOpen();
      const entry = await outbox.retry(notificationId);
      // A crash before the next line leaves it pending: asking again queues it.
      const isNew = await engine.enqueue(NOTIFICATION_QUEUE, notificationId, {
        notification_id: notificationId,
      });
      if (!isNew) await engine.wake(NOTIFICATION_QUEUE, notificationId);
      return entry;
    },
  };
}

/** Runs the jobs of {@link NOTIFICATION_QUEUE}: one try after the other until nothing of the entry is pending. */
export function createNotificationJob(outbox: Outbox, clock: Clock = systemClock): JobHandler {
  return async (job, { signal }) => {
    const entry = await outbox.deliver(job.id, signal);
    const notBefore = outbox.nextDueAt(entry);
    if (notBefore === undefined) return { state: 'done' };
    const reason = (entry.session.error ?? entry.handler.error)?.kind ?? 'not due yet';
    return Date.parse(notBefore) <= clock.now()
      ? { state: 'later', reason }
      : { state: 'later', reason, notBefore };
  };
}

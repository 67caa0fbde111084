import { isoInstant } from '@holdfast/agent';
import type { JobOutcome } from '../engine/job-engine.js';
import { createNotification } from '../notifications/create-notification.js';
import type { DeliveryTarget, Notification, OutboxEntry } from '../notifications/notification.js';
import type { ContinuationState } from '../workflow/continuation-state.js';
import { judgeOutcome } from '../workflow/next-phase.js';
import { changePhase, completePhase, errorJsonOf } from '../workflow/phase-record.js';
import type { WorkflowEventBody } from '../workflow/workflow-event.js';
import type { PhaseRun } from './phase-run.js';
import { failPhase, findEndError } from './settle-phase.js';

/** Tells of the end, once everything else is done. It is over when no target is pending any more. */
export async function runAutoNotification(run: PhaseRun): Promise<JobOutcome | undefined> {
  const { live, outbox, context } = run;
  const at = isoInstant(context.clock);
  const { notificationId } = await outbox.put(notificationOf(live.state, at));
  // A stop ends the work, not the news of it.
  const entry = await live.outside(() => outbox.deliver(notificationId, run.letGo));
  const notBefore = outbox.nextDueAt(entry);
  if (notBefore !== undefined) {
    // The outbox counts its own tries, and bounds them.
    await live.write((state, now) =>
      changePhase(state, 'auto_notification', {
        notBefore,
        attempt: 1,
        lease: undefined,
        updatedAt: now,
      }),
    );
    return { state: 'later', reason: 'its end is not told yet', notBefore };
  }
  const dead = [entry.session, entry.handler].find(({ state }) => state === 'dead_letter');
  // What nobody could be told of is a failure of this phase, never of the work.
  if (dead) await failPhase(run, dead.error ?? errorJsonOf('nothing says why'));
  if (dead) return undefined;
  await tellSent(run, entry);
  await live.write(
    (state, now) => completePhase(state, 'auto_notification', now),
    [{ type: 'phase_completed', phase: 'auto_notification' }],
  );
  return undefined;
}

function notificationOf(state: ContinuationState, at: string): Notification {
  const outcome = judgeOutcome(state);
  return createNotification({ state, outcome, at, reason: findEndError(state)?.message });
}

/** From the outbox, which is the record of it; what was told before a crash is not told again. */
async function tellSent({ live }: PhaseRun, entry: OutboxEntry): Promise<void> {
  for (const event of sentEvents(entry)) {
    const isTold = live.log.events.some(
      (one) =>
        one.type === event.type &&
        one.notificationId === event.notificationId &&
        one.target === event.target,
    );
    if (!isTold) await live.log.append(event);
  }
}

type SentEvent = Extract<WorkflowEventBody, { readonly type: 'auto_notification_sent' }>;

function sentEvents(entry: OutboxEntry): readonly SentEvent[] {
  const { notificationId } = entry;
  const targets: readonly DeliveryTarget[] = ['session', 'handler'];
  const reached = targets.filter((target) => entry[target].state === 'delivered');
  const told = reached.length === 0 ? (['none'] as const) : reached;
  return told.map((target) => ({ type: 'auto_notification_sent', notificationId, target }));
}

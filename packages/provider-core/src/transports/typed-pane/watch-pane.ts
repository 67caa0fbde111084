import { observePid } from '../../state/process-identity.js';
import type { EventQueue } from '../served-pane/event-queue.js';
import type { FollowedEvent } from '../session-transport.js';
import { type LivePane, readPaneProcess } from './live-pane.js';
import { findPageInTheWay, isBeingApproved } from './page-in-the-way.js';
import { nativeIdOf } from './session-files.js';

const POLL_MS = 200;
/** A page that stands for this many looks is not one that our own hooks are about to answer. */
const PAGE_LOOKS = 8;

/** Tells when the process ends, when another session is in it, and when it waits on a page that nobody answers. */
export async function watchPane(
  pane: LivePane,
  queue: EventQueue<FollowedEvent>,
  signal: AbortSignal,
): Promise<void> {
  const { clock } = pane.context;
  const wake = createWake(pane, signal);
  let looksAtPage = 0;
  while (!signal.aborted) {
    if (isOver(pane)) {
      queue.push({ kind: 'transport_lost', why: `process ${pane.pid} has ended` });
      return;
    }
    const registered = await readPaneProcess(pane);
    if (registered && registered.nativeSessionId !== nativeIdOf(pane.context)) {
      queue.push({ kind: 'identity_changed', nativeSessionId: registered.nativeSessionId });
      return;
    }
    // The CLI says that it waits a moment longer than the request does.
    const isWaiting = registered?.activity === 'waiting' && !(await isBeingApproved(pane));
    looksAtPage = isWaiting ? looksAtPage + 1 : 0;
    const page = looksAtPage >= PAGE_LOOKS ? await findPageInTheWay(pane) : undefined;
    if (page) {
      queue.push({ kind: 'blocked', ...page });
      looksAtPage = 0;
    }
    await clock.sleep(POLL_MS, wake()).catch(() => undefined);
  }
}

/** Panes that come and go make the next look come at once. */
function createWake({ server }: LivePane, signal: AbortSignal): () => AbortSignal {
  let next = new AbortController();
  const stop = server.onPanesChanged(() => next.abort());
  signal.addEventListener('abort', stop, { once: true });
  return () => {
    next = new AbortController();
    return AbortSignal.any([signal, next.signal]);
  };
}

/** Told by pid and start time: a pane that cannot be seen says nothing of its process. */
function isOver({ pid, startTime }: LivePane): boolean {
  return startTime === undefined || observePid(pid, startTime) === 'dead';
}

import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { SessionBusyError } from '../../errors/turn-error.js';
import type { DecidedBy, HostDecision } from '../../spec/host-request.js';
import type { PaneRequest } from '../../spec/typed-pane.js';
import { writeFileAtomic } from '../../state/atomic-write.js';
import { waitUntil } from '../../time/wait-until.js';
import type { EventQueue } from '../served-pane/event-queue.js';
import type { FollowedEvent } from '../session-transport.js';
import { type LivePane, readPaneActivity } from './live-pane.js';
import type { RunningDelivery } from './running-delivery.js';

const POLL_MS = 100;
/** The page is gone for this many looks: somebody answered it. One look may fall between two pages. */
const GONE_LOOKS = 2;
/** The same for a request whose page was never seen. */
const NEVER_SEEN_LOOKS = 30;
const PICK_UP_MS = 5_000;

interface WaitingRequest extends PaneRequest {
  wasShown: boolean;
  looksWithout: number;
}

/** Tells of every request that waits for the host, and of each that somebody else settled. */
export async function watchRequests(
  pane: LivePane,
  delivery: RunningDelivery,
  queue: EventQueue<FollowedEvent>,
  signal: AbortSignal,
): Promise<void> {
  const waiting = new Map<string, WaitingRequest>();
  while (!signal.aborted) {
    const ids = await listRequests(pane);
    for (const id of ids) {
      const isNew = !waiting.has(id) && !delivery.answered.has(id);
      const found = isNew ? await readRequest(pane, id) : undefined;
      if (!found) continue;
      if (found.isSerial) await settleEarlier(pane, { waiting, delivery, queue });
      waiting.set(id, { ...found, wasShown: false, looksWithout: 0 });
      queue.push({ kind: 'request', request: found.request });
    }
    const isShown = waiting.size > 0 && (await readPaneActivity(pane)) === 'waiting';
    for (const [id, request] of waiting) {
      if (delivery.answered.has(id)) waiting.delete(id);
      else if (!ids.includes(id)) settle({ waiting, delivery, queue }, id, 'deadline');
      else if (isOver(request, isShown)) await close(pane, { waiting, delivery, queue }, id);
    }
    await pane.context.clock.sleep(POLL_MS, signal).catch(() => undefined);
  }
}

interface Watched {
  readonly waiting: Map<string, WaitingRequest>;
  readonly delivery: RunningDelivery;
  readonly queue: EventQueue<FollowedEvent>;
}

function isOver(request: WaitingRequest, isShown: boolean): boolean {
  request.wasShown ||= isShown;
  request.looksWithout = isShown ? 0 : request.looksWithout + 1;
  return request.looksWithout >= (request.wasShown ? GONE_LOOKS : NEVER_SEEN_LOOKS);
}

async function settleEarlier(pane: LivePane, watched: Watched): Promise<void> {
  for (const [id, { isSerial }] of watched.waiting) {
    if (isSerial && !watched.delivery.answered.has(id)) await close(pane, watched, id);
  }
}

/** The relay of a request that a person answered waits on, until its folder is gone. */
async function close(pane: LivePane, watched: Watched, id: string): Promise<void> {
  await rm(requestFolder(pane, id), { recursive: true, force: true });
  settle(watched, id, watched.delivery.isInterrupted ? 'interrupt' : 'person');
}

function settle({ waiting, delivery, queue }: Watched, id: string, by: DecidedBy): void {
  waiting.delete(id);
  delivery.answered.add(id);
  queue.push({ kind: 'request_settled', requestId: id, by });
}

/** Gives the relay its answer. Taken once the relay has picked it up; gone when somebody else was first. */
export async function answerRequest(
  pane: LivePane,
  delivery: RunningDelivery,
  id: string,
  decision: HostDecision,
): Promise<'taken' | 'gone'> {
  if (delivery.answered.has(id) || !(await listRequests(pane)).includes(id)) return 'gone';
  const { approvals } = pane.way;
  const folder = requestFolder(pane, id);
  const payload = await readJson(join(folder, approvals.requestFile));
  if (payload === undefined) return 'gone';
  if (!pane.fence.isCurrent()) throw new SessionBusyError({ kind: 'ours' });
  delivery.answered.add(id);
  const content = approvals.writeAnswer(payload, decision);
  await writeFileAtomic(join(folder, approvals.answerFile), content, { durable: false });
  return (await isPickedUp(pane, id)) ? 'taken' : 'gone';
}

/** A relay that has ended picks nothing up. */
async function isPickedUp(pane: LivePane, id: string): Promise<boolean> {
  try {
    return await waitUntil(async () => !(await listRequests(pane)).includes(id), {
      awaiting: 'the permission hook to take its answer',
      deadlineMs: PICK_UP_MS,
      clock: pane.context.clock,
    });
  } catch {
    await rm(requestFolder(pane, id), { recursive: true, force: true });
    return false;
  }
}

/** The requests that lie in the folder, the ones being written too. */
async function listRequests({ way, context }: LivePane): Promise<readonly string[]> {
  const folder = join(context.filesDir, way.approvals.approvalsFolder);
  const names = await readdir(folder).catch(() => []);
  return names.filter((name) => /^[A-Za-z0-9_-]+$/.test(name));
}

async function readRequest(pane: LivePane, id: string): Promise<PaneRequest | undefined> {
  const { requestFile, readRequest: read } = pane.way.approvals;
  const payload = await readJson(join(requestFolder(pane, id), requestFile));
  return payload === undefined ? undefined : read(id, payload);
}

function requestFolder({ way, context }: LivePane, id: string): string {
  return join(context.filesDir, way.approvals.approvalsFolder, id);
}

async function readJson(path: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(path, 'utf8'));
  } catch {
    return undefined;
  }
}

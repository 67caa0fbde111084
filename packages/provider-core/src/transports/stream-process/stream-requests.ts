import { readdirSync } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { SessionBusyError } from '../../errors/turn-error.js';
import type { HostDecision } from '../../spec/host-request.js';
import type { StreamProcess } from '../../spec/stream-process.js';
import { writeFileAtomic } from '../../state/atomic-write.js';
import { waitUntil } from '../../time/wait-until.js';
import type { EventQueue } from '../served-pane/event-queue.js';
import type { FollowedEvent, SessionContext } from '../session-transport.js';
import type { LiveStream } from './live-stream.js';

const POLL_MS = 100;
const PICK_UP_MS = 5_000;

/** Tells of every request that waits for the host, and of each that was settled without it. */
export async function watchRequests(
  { way, context, delivery }: LiveStream,
  queue: EventQueue<FollowedEvent>,
  signal: AbortSignal,
): Promise<void> {
  const told = new Set<string>();
  while (!signal.aborted) {
    const ids = await listRequests(way, context);
    for (const id of ids) {
      const payload = told.has(id) ? undefined : await readRequest(way, context, id);
      const found = payload === undefined ? undefined : way.approvals.readRequest(id, payload);
      if (!found) continue;
      told.add(id);
      queue.push({ kind: 'request', request: found.request });
    }
    for (const id of [...told].filter((each) => !ids.includes(each))) {
      told.delete(id);
      if (delivery.answered.has(id)) continue;
      const by = delivery.isInterrupted ? 'interrupt' : 'deadline';
      queue.push({ kind: 'request_settled', requestId: id, by });
    }
    await context.clock.sleep(POLL_MS, signal).catch(() => undefined);
  }
}

/** Gives the relay its answer. Taken once it has picked it up; gone when it did not wait any more. */
export async function answerRequest(
  { way, context, fence, delivery }: LiveStream,
  id: string,
  decision: HostDecision,
): Promise<'taken' | 'gone'> {
  const { approvals } = way;
  const payload = await readRequest(way, context, id);
  if (payload === undefined || delivery.answered.has(id)) return 'gone';
  if (!fence.isCurrent()) throw new SessionBusyError({ kind: 'ours' });
  delivery.answered.add(id);
  const folder = requestFolder(way, context, id);
  const content = approvals.writeAnswer(payload, decision);
  await writeFileAtomic(join(folder, approvals.answerFile), content, { durable: false });
  try {
    await waitUntil(async () => !(await listRequests(way, context)).includes(id), {
      awaiting: 'the permission hook to take its answer',
      deadlineMs: PICK_UP_MS,
      clock: context.clock,
    });
    return 'taken';
  } catch {
    await rm(folder, { recursive: true, force: true });
    return 'gone';
  }
}

/** The requests that wait now. */
export async function listRequests(
  { approvals }: StreamProcess,
  { filesDir }: SessionContext,
): Promise<readonly string[]> {
  const names = listFolder(join(filesDir, approvals.approvalsFolder));
  return names.filter((name) => /^[A-Za-z0-9_-]+$/.test(name));
}

function listFolder(path: string): readonly string[] {
  try {
    return readdirSync(path);
  } catch {
    return [];
  }
}

function requestFolder({ approvals }: StreamProcess, { filesDir }: SessionContext, id: string) {
  return join(filesDir, approvals.approvalsFolder, id);
}

async function readRequest(
  way: StreamProcess,
  context: SessionContext,
  id: string,
): Promise<unknown> {
  try {
    const path = join(requestFolder(way, context, id), way.approvals.requestFile);
    return JSON.parse(await readFile(path, 'utf8'));
  } catch {
    return undefined;
  }
}

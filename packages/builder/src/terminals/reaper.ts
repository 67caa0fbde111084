import { type Clock, type Logger, systemClock } from '@holdfast/agent';
import type { AgentRegistry } from '../agents.js';
import { sessionOwnerId } from '../executions/execution-owner.js';
import type { Store } from '../persistence/store.js';
import type { TerminalOwners } from './terminal-owners.js';
import type { CloseReason, KeptSession, TerminalRecord } from './terminal-record.js';
import { dropSnapshots, isSettled } from './terminal-record.js';
import {
  listTerminalRecords,
  readTerminalRecord,
  updateTerminalRecord,
} from './terminal-records.js';

/** What a reaper is made of. */
export interface ReaperOptions {
  readonly store: Store;
  readonly agents: AgentRegistry;
  /** Tells of an owner's work, and ends its sessions. */
  readonly owners: TerminalOwners;
  readonly logger?: Logger | undefined;
  /** Real time when absent. */
  readonly clock?: Clock | undefined;
  /** Between two looks; 30 s when absent. */
  readonly everyMs?: number | undefined;
  /** How long the processes of ended work are kept; 30 s when absent. */
  readonly graceMs?: number | undefined;
  /** After how long without any use the processes of a chat or a workflow's main agent are ended; 3 h when absent. */
  readonly idleMs?: number | undefined;
}

/** What one look did. */
export interface ReapReport {
  /** Sessions whose processes were ended. */
  readonly closed: readonly {
    readonly ownerId: string;
    readonly sessionId: string;
    readonly reason: CloseReason;
  }[];
  /** Sessions that are due and were left: somebody uses them, their agent is not registered, or ending them failed. */
  readonly left: readonly {
    readonly ownerId: string;
    readonly sessionId: string;
    readonly detail: string;
  }[];
}

/**
 * Ends processes that nobody needs any more, and removes the texts of terminals whose time is over. It looks at work and changes
 * none of it: a session that is needed again is resumed. Only processes that carry our own nonce are ended, by the provider's layer.
 */
export interface Reaper extends AsyncDisposable {
  /** Looks once, at everything. */
  readonly sweep: () => Promise<ReapReport>;
  /** Looks again and again until disposed. */
  readonly start: () => void;
}

const EVERY_MS = 30_000;
const GRACE_MS = 30_000;
const IDLE_MS = 3 * 60 * 60_000;

/** Makes a reaper; it does nothing before it is asked to. */
export function createReaper(options: ReaperOptions): Reaper {
  const { clock = systemClock, everyMs = EVERY_MS, logger } = options;
  const stop = new AbortController();
  let running: Promise<void> | undefined;
  const sweep = () => sweepAll(options);
  const run = async () => {
    while (!stop.signal.aborted) {
      await sweep().catch((error: unknown) =>
        logger?.warn({ err: error }, 'terminals not looked at'),
      );
      await clock.sleep(everyMs, stop.signal).catch(() => {});
    }
  };
  return {
    sweep,
    start: () => {
      running ??= run();
    },
    [Symbol.asyncDispose]: async () => {
      stop.abort();
      await running;
    },
  };
}

type Mutable<List> = List extends readonly (infer Item)[] ? Item[] : never;

interface Sweep {
  readonly closed: Mutable<ReapReport['closed']>;
  readonly left: Mutable<ReapReport['left']>;
}

async function sweepAll(options: ReaperOptions): Promise<ReapReport> {
  const sweep: Sweep = { closed: [], left: [] };
  for (const name of await listTerminalRecords(options.store)) {
    try {
      const record = await readTerminalRecord(options.store, name);
      if (record) await sweepOwner(options, record, sweep);
    } catch (error) {
      // One that cannot be read keeps no other from its turn.
      options.logger?.warn({ record: name, err: error }, 'terminals of an owner not looked at');
    }
  }
  return sweep;
}

async function sweepOwner(
  options: ReaperOptions,
  record: TerminalRecord,
  sweep: Sweep,
): Promise<void> {
  const ownerId = sessionOwnerId(record.owner);
  const due = await findDue(options, record);
  for (const { session, reason } of due) {
    const { sessionId } = session.context;
    const detail = await endDue(options, record, { session, reason });
    if (detail === undefined) sweep.closed.push({ ownerId, sessionId, reason });
    else sweep.left.push({ ownerId, sessionId, detail });
  }
  await tidy(options, ownerId);
}

interface DueSession {
  readonly session: KeptSession;
  readonly reason: CloseReason;
}

/** The sessions whose time is over, by what their owner does. */
async function findDue(
  { owners, clock = systemClock, graceMs = GRACE_MS, idleMs = IDLE_MS }: ReaperOptions,
  { owner, policy, sessions }: TerminalRecord,
): Promise<readonly DueSession[]> {
  const [waitMs, reason] =
    policy === 'bounded' ? ([graceMs, 'work_ended'] as const) : ([idleMs, 'idle'] as const);
  const isDue = (since: string | undefined) =>
    clock.now() - (Date.parse(since ?? '') || 0) >= waitMs;
  const unused = sessions.filter(
    ({ closedAt, lastActiveAt }) => closedAt === undefined && isDue(lastActiveAt),
  );
  // Asked last: it may have to read much.
  const work = unused.length > 0 ? await owners.observe(owner) : undefined;
  if (!work || work.state === 'going_on' || work.state === 'unknown') return [];
  const mayEnd = policy === 'persistent' || work.state !== 'resting';
  return mayEnd && isDue(work.since) ? unused.map((session) => ({ session, reason })) : [];
}

/** Says why it was left; `undefined` when its processes were ended. */
async function endDue(
  { agents, owners, logger }: ReaperOptions,
  { owner }: TerminalRecord,
  { session, reason }: DueSession,
): Promise<string | undefined> {
  const { agent, sessionId } = session.context;
  if (!agents.has(agent)) return `its agent ${agent} is not registered`;
  try {
    return (await owners.end(owner, session, reason)) === 'busy' ? 'somebody uses it' : undefined;
  } catch (error) {
    logger?.warn({ session_id: sessionId, err: error }, 'session not ended');
    return error instanceof Error ? error.message : String(error);
  }
}

/** Takes away what is over, and the record when nothing of the owner is left. */
async function tidy({ store, clock = systemClock }: ReaperOptions, ownerId: string): Promise<void> {
  const now = clock.now();
  await updateTerminalRecord(store, ownerId, (record) => {
    if (!record) return undefined;
    const kept = dropSnapshots(
      record,
      ({ closesAt }) => closesAt !== undefined && Date.parse(closesAt) <= now,
    );
    return isSettled(kept) ? undefined : kept;
  });
}

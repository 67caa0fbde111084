import { type Agent, type Clock, isoInstant, type Logger, systemClock } from '@holdfast/agent';
import type { AgentContext } from '../agents.js';
import { type SessionOwner, sessionOwnerId } from '../executions/execution-owner.js';
import { instantAfter } from '../instant-after.js';
import type { Store } from '../persistence/store.js';
import {
  addSnapshot,
  type CloseReason,
  endSession,
  newRecord,
  type TerminalPolicy,
  useSession,
} from './terminal-record.js';
import { updateTerminalRecord, writeSnapshotText } from './terminal-records.js';

/** What keeping terminals needs of a builder. */
export interface TerminalContext {
  readonly store: Store;
  readonly logger?: Logger | undefined;
  /** Real time when absent. */
  readonly clock?: Clock | undefined;
}

/** How long the last text of a terminal is kept once it is no longer current. */
const SNAPSHOT_MS = 30 * 60_000;

/** A session that was just used, or is about to be closed. */
export interface UsedSession {
  readonly owner: SessionOwner;
  readonly policy: TerminalPolicy;
  readonly context: AgentContext;
  /** With its newest handle. */
  readonly agent: Agent;
}

/**
 * Notes that a session was used, and keeps what its terminal shows. Only for people, and so that its processes are found once nobody
 * needs them: whatever fails here fails nothing else.
 */
export async function keepSession(
  { store, logger, clock = systemClock }: TerminalContext,
  { owner, policy, context, agent }: UsedSession,
): Promise<void> {
  const handle = agent.currentAgentSessionHandle();
  if (!handle) return;
  const ownerId = sessionOwnerId(owner);
  const at = isoInstant(clock);
  const { sessionId } = context;
  try {
    const shown = await agent.captureTerminal();
    if (shown) {
      const { terminalId, text: content } = shown;
      await writeSnapshotText(store, { terminalId, ownerId, capturedAt: at, content });
    }
    await updateTerminalRecord(store, ownerId, (before) => {
      const record = before ?? newRecord(owner, policy, at);
      const used = useSession({ ...record, updatedAt: at }, { context, handle, lastActiveAt: at });
      if (!shown) return used;
      const snapshot = { terminalId: shown.terminalId, sessionId, capturedAt: at };
      return addSnapshot(used, snapshot, laterThan(clock, SNAPSHOT_MS));
    });
  } catch (error) {
    logger?.warn({ owner_id: ownerId, err: error }, 'terminal not kept');
  }
}

/** Notes that the session's processes were ended: from now on its last text is kept for a while only. */
export async function keepSessionEnd(
  { store, logger, clock = systemClock }: TerminalContext,
  { owner, sessionId }: { readonly owner: SessionOwner; readonly sessionId: string },
  reason: CloseReason,
): Promise<void> {
  const ownerId = sessionOwnerId(owner);
  const end = { at: isoInstant(clock), reason, closesAt: laterThan(clock, SNAPSHOT_MS) };
  try {
    await updateTerminalRecord(store, ownerId, (record) =>
      record ? endSession(record, sessionId, end) : undefined,
    );
  } catch (error) {
    logger?.warn({ owner_id: ownerId, err: error }, 'end of a terminal not kept');
  }
}

function laterThan(clock: Clock, ms: number): string {
  return instantAfter(clock, ms);
}

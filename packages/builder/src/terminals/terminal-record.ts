import type { AgentSessionHandle } from '@holdfast/agent';
import type { AgentContext } from '../agents.js';
import type { SessionOwner } from '../executions/execution-owner.js';

/**
 * How long the processes of an owner's sessions are kept: a chat's and a workflow's main agent's (`persistent`) until they were idle
 * for hours, all others (`bounded`) until a little after their work ended.
 */
export type TerminalPolicy = 'persistent' | 'bounded';

/** What is kept of an owner's terminals. An observation: it says nothing about any work. */
export interface TerminalRecord {
  readonly owner: SessionOwner;
  readonly policy: TerminalPolicy;
  readonly sessions: readonly KeptSession[];
  /** Oldest first. */
  readonly snapshots: readonly KeptSnapshot[];
  readonly updatedAt: string;
}

/** A session whose processes may live. */
export interface KeptSession {
  /** Whom its agent was made for, so that it can be made again. */
  readonly context: AgentContext;
  readonly handle: AgentSessionHandle;
  readonly lastActiveAt: string;
  /** Set once its processes were ended; until it is used again. */
  readonly closedAt?: string | undefined;
  readonly closeReason?: CloseReason | undefined;
}

/** Why the processes of a session were ended: somebody asked, its work is over, or nobody used it for long. */
export type CloseReason = 'closed' | 'work_ended' | 'idle';

/** What one terminal showed last; the text stands apart. */
export interface KeptSnapshot {
  readonly terminalId: string;
  readonly sessionId: string;
  readonly capturedAt: string;
  /** Set once the terminal is no longer current: from then on the text may be removed. */
  readonly closesAt?: string | undefined;
}

/** How many snapshots of one owner are kept. */
const MAX_SNAPSHOTS = 4;

/** A record of an owner that had none. */
export function newRecord(
  owner: SessionOwner,
  policy: TerminalPolicy,
  updatedAt: string,
): TerminalRecord {
  return { owner, policy, sessions: [], snapshots: [], updatedAt };
}

/** The session was just used. Pure. */
export function useSession(
  record: TerminalRecord,
  used: Pick<KeptSession, 'context' | 'handle' | 'lastActiveAt'>,
): TerminalRecord {
  const others = record.sessions.filter((one) => !isOf(one, used.context.sessionId));
  const { context, handle, lastActiveAt } = used;
  return { ...record, sessions: [...others, { context, handle, lastActiveAt }] };
}

/** The session's processes were ended, and its terminals closed. Pure. */
export function endSession(
  record: TerminalRecord,
  sessionId: string,
  end: { readonly at: string; readonly reason: CloseReason; readonly closesAt: string },
): TerminalRecord {
  const sessions = record.sessions.map((one) =>
    isOf(one, sessionId) ? { ...one, closedAt: end.at, closeReason: end.reason } : one,
  );
  return { ...record, sessions, snapshots: archive(record, sessionId, end.closesAt) };
}

/** What a terminal shows now; those it replaced in its session are closed. Pure. */
export function addSnapshot(
  record: TerminalRecord,
  snapshot: KeptSnapshot,
  closesAt: string,
): TerminalRecord {
  const { terminalId, sessionId } = snapshot;
  const others = archive(record, sessionId, closesAt).filter(
    (one) => one.terminalId !== terminalId,
  );
  return { ...record, snapshots: [...others, snapshot].slice(-MAX_SNAPSHOTS) };
}

function archive(
  { snapshots }: TerminalRecord,
  sessionId: string,
  closesAt: string,
): readonly KeptSnapshot[] {
  return snapshots.map((one) =>
    one.sessionId === sessionId ? { ...one, closesAt: one.closesAt ?? closesAt } : one,
  );
}

/** The record without the snapshots whose time is over. Pure. */
export function dropSnapshots(
  record: TerminalRecord,
  isGone: (snapshot: KeptSnapshot) => boolean,
): TerminalRecord {
  const snapshots = record.snapshots.filter((one) => !isGone(one));
  return snapshots.length === record.snapshots.length ? record : { ...record, snapshots };
}

/** Whether nothing of the owner is left that anybody must look after. Pure. */
export function isSettled({ sessions, snapshots }: TerminalRecord): boolean {
  return snapshots.length === 0 && sessions.every(({ closedAt }) => closedAt !== undefined);
}

function isOf({ context }: KeptSession, sessionId: string): boolean {
  return context.sessionId === sessionId;
}

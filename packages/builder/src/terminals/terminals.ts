import type { ChatContext } from '../chat/chat-context.js';
import { UnknownChatError } from '../chat/chat-error.js';
import { isChatId } from '../chat/chat-id.js';
import { readChatView } from '../chat/chat-log.js';
import { readExecutionId } from '../executions/execution-key.js';
import { sessionOwnerId } from '../executions/execution-owner.js';
import { keys } from '../persistence/keys.js';
import { readContinuationState } from '../workflow/continuation-state-file.js';
import { UnknownExecutionError } from '../workflow/workflow-error.js';
import type { Terminal, TerminalGroup } from './terminal-group.js';
import type { CloseReason, TerminalPolicy, TerminalRecord } from './terminal-record.js';
import {
  findSnapshotText,
  findTerminalRecord,
  listTerminalRecords,
  readTerminalRecord,
  updateTerminalRecord,
} from './terminal-records.js';

/** One terminal with what is kept of it. */
export interface TerminalView extends Terminal {
  /** ISO 8601, when a text of it was kept last; absent where none is. */
  readonly capturedAt?: string | undefined;
  /** ISO 8601: from then on the text is removed. Absent while the terminal is current. */
  readonly closesAt?: string | undefined;
}

/** The terminals of one owner, oldest first, and what becomes of its processes. */
export interface OwnedTerminals extends TerminalGroup {
  readonly terminals: readonly TerminalView[];
  /** Absent before its first turn ended. */
  readonly policy?: TerminalPolicy | undefined;
  /** Whether processes of its sessions may live; `unknown` before a first turn ended, `closed` once they were ended, by whom `closeReason` says. */
  readonly processState: 'live' | 'closed' | 'unknown';
  readonly closeReason?: CloseReason | undefined;
}

/** What a terminal showed last. */
export interface TerminalSnapshot {
  readonly terminalId: string;
  readonly ownerId: string;
  readonly content: string;
  /** `live`: it is current, and shows more by now; `archived`: it is closed. */
  readonly snapshotKind: 'live' | 'archived';
  readonly capturedAt: string;
  /** ISO 8601: from then on it is removed. */
  readonly closesAt?: string | undefined;
}

/** The terminals of chats and executions. Observations: nothing here completes, retries or skips anything. */
export interface Terminals {
  /** The terminals of a chat or an execution, by its id, or `unknown_chat` or `unknown_execution`. */
  readonly get: (ownerId: string) => Promise<OwnedTerminals>;
  /** Of all chats that ever had a terminal, and of the executions of which something is kept still. */
  readonly list: () => Promise<readonly OwnedTerminals[]>;
  /** What a terminal showed last; `undefined` where nothing is kept of it. */
  readonly snapshot: (terminalId: string) => Promise<TerminalSnapshot | undefined>;
  /** Removes what is kept of a terminal. Its processes go on. */
  readonly dismiss: (terminalId: string) => Promise<void>;
}

type TerminalsContext = Pick<ChatContext, 'store' | 'logger'>;

/** The terminals of the chats and executions in a builder's store. */
export function createTerminals(context: TerminalsContext): Terminals {
  return {
    get: (ownerId) => getOwned(context, ownerId),
    list: () => listOwned(context),
    snapshot: (terminalId) => findSnapshot(context, terminalId),
    dismiss: (terminalId) => dismiss(context, terminalId),
  };
}

/** An execution's id has what no chat's id can have: `~`. */
async function getOwned({ store }: TerminalsContext, ownerId: string): Promise<OwnedTerminals> {
  const group = isChatId(ownerId)
    ? await chatGroup({ store }, ownerId)
    : await executionGroup({ store }, ownerId);
  return merge(group, await findTerminalRecord(store, ownerId));
}

async function chatGroup(
  { store }: Pick<TerminalsContext, 'store'>,
  chatId: string,
): Promise<TerminalGroup> {
  const view = await readChatView(store, chatId);
  if (!view) throw new UnknownChatError(chatId);
  return view.terminals;
}

async function executionGroup(
  { store }: Pick<TerminalsContext, 'store'>,
  executionId: string,
): Promise<TerminalGroup> {
  const read = await readContinuationState(store, readExecutionId(executionId));
  if (read.state !== 'present') throw new UnknownExecutionError(executionId);
  return { ownerId: executionId, terminals: read.value.terminals };
}

function merge(group: TerminalGroup, record: TerminalRecord | undefined): OwnedTerminals {
  const terminals = group.terminals.map((terminal): TerminalView => {
    const kept = record?.snapshots.find((one) => one.terminalId === terminal.terminalId);
    return kept ? { ...terminal, capturedAt: kept.capturedAt, closesAt: kept.closesAt } : terminal;
  });
  if (!record) return { ...group, terminals, processState: 'unknown' };
  const isLive = record.sessions.some(({ closedAt }) => closedAt === undefined);
  const { policy } = record;
  if (isLive) return { ...group, terminals, policy, processState: 'live' };
  const { closeReason } = record.sessions.at(-1) ?? {};
  return { ...group, terminals, policy, processState: 'closed', closeReason };
}

async function listOwned(context: TerminalsContext): Promise<readonly OwnedTerminals[]> {
  const chats = await context.store.list(keys.chats());
  const ids = new Set(chats);
  for (const name of await listTerminalRecords(context.store)) {
    const record = await quietly(context, name, () => readTerminalRecord(context.store, name));
    if (record) ids.add(sessionOwnerId(record.owner));
  }
  const owned: OwnedTerminals[] = [];
  for (const ownerId of ids) {
    const found = await quietly(context, ownerId, () => getOwned(context, ownerId));
    if (found && found.terminals.length > 0) owned.push(found);
  }
  return owned;
}

/** One that cannot be read keeps no other from the list. */
async function quietly<Value>(
  { logger }: TerminalsContext,
  name: string,
  read: () => Promise<Value>,
): Promise<Value | undefined> {
  try {
    return await read();
  } catch (error) {
    logger?.warn({ owner_id: name, err: error }, 'terminals of an owner not read');
    return undefined;
  }
}

async function findSnapshot(
  { store }: TerminalsContext,
  terminalId: string,
): Promise<TerminalSnapshot | undefined> {
  const text = await findSnapshotText(store, terminalId);
  const record = text && (await findTerminalRecord(store, text.ownerId));
  const kept = record?.snapshots.find((one) => one.terminalId === terminalId);
  if (!text || !kept) return undefined;
  const { closesAt } = kept;
  return { ...text, snapshotKind: closesAt === undefined ? 'live' : 'archived', closesAt };
}

async function dismiss({ store }: TerminalsContext, terminalId: string): Promise<void> {
  const text = await findSnapshotText(store, terminalId);
  if (!text) return;
  await updateTerminalRecord(store, text.ownerId, (record) => {
    if (!record) return undefined;
    const snapshots = record.snapshots.filter((one) => one.terminalId !== terminalId);
    return { ...record, snapshots };
  });
  await store.remove(keys.terminalSnapshot(terminalId));
}

import type { RecordEvent } from '../../spec/record-event.js';
import type { Usage } from '../../spec/turn.js';
import type { RecordReader } from '../../spec/typed-pane.js';
import { readApiError } from './api-error.js';
import { readTranscriptRow, type TranscriptRow } from './record.wire.js';

/** What is known of the turn under way. */
interface TurnState {
  promptId: string | undefined;
  /** Rows that come after the last message, by uuid: its branch. */
  branch: Set<string> | undefined;
  /** The last message of the assistant; its rows share an id. */
  lastMessageId: string | undefined;
  answer: string[];
  stopReason: string | undefined;
  usageByMessage: Map<string, Usage>;
  /** A failure was told; newer versions write no end of turn after it, older ones do. */
  hasFailed: boolean;
}

/**
 * Reads the transcript. A turn ends at `system/turn_duration`, with the text of its last assistant message; it fails at
 * an API error row and is interrupted at the row that says so.
 */
export function createTranscriptReader(): RecordReader {
  let turn = newTurn();
  const toolNames = new Map<string, string>();
  const early = new EarlyRows();

  const push = (value: unknown): readonly RecordEvent[] => {
    const row = readTranscriptRow(value);
    // Subagents keep a conversation of their own.
    if (!row || row.isSidechain) return [];
    return early.inOrder(row).flatMap(take);
  };

  const take = (row: TranscriptRow): readonly RecordEvent[] => {
    const isOnBranch = joinBranch(turn, row);
    const message = readUserMessage(row);
    if (message) {
      const abandoned = turn.branch !== undefined && !isOnBranch;
      turn = newTurn(row);
      return [...(abandoned ? [{ type: 'branch_abandoned' } as const] : []), message];
    }
    return readRow(row, turn, toolNames);
  };
  return { push };
}

/**
 * Holds back the closing rows of a turn until the row they hang on was read: in its first write of a session the CLI
 * can put them before the messages (seen in 2.1.197 under load). A closing row whose parent never comes is an older
 * turn's.
 */
class EarlyRows {
  readonly #seen = new Set<string>();
  readonly #held = new Map<string, TranscriptRow[]>();

  /** The row and those that waited for it, or nothing when it has to wait itself. */
  inOrder(row: TranscriptRow): readonly TranscriptRow[] {
    const parent = row.parentUuid;
    if (isClosing(row) && typeof parent === 'string' && !this.#seen.has(parent)) {
      this.#held.set(parent, [...(this.#held.get(parent) ?? []), row]);
      return [];
    }
    if (row.uuid === undefined) return [row];
    this.#seen.add(row.uuid);
    const waiting = this.#held.get(row.uuid) ?? [];
    this.#held.delete(row.uuid);
    return [row, ...waiting.flatMap((next) => this.inOrder(next))];
  }
}

function isClosing({ type, subtype }: TranscriptRow): boolean {
  return type === 'system' && (subtype === 'turn_duration' || subtype === 'stop_hook_summary');
}

/** The CLI resumes nothing when no message stands in the transcript, and takes its id for used. */
export function holdsConversation(transcript: string): boolean {
  return /"type":"(?:user|assistant)"/.test(transcript);
}

function newTurn(row?: TranscriptRow): TurnState {
  return {
    promptId: row?.promptId,
    branch: row?.uuid === undefined ? undefined : new Set([row.uuid]),
    lastMessageId: undefined,
    answer: [],
    stopReason: undefined,
    usageByMessage: new Map(),
    hasFailed: false,
  };
}

/** Notes the row as part of the last message's branch; false when it hangs on something older. */
function joinBranch({ branch }: TurnState, row: TranscriptRow): boolean {
  // A compaction cuts the chain; the logical parent goes on.
  const parent = row.parentUuid ?? row.logicalParentUuid;
  if (!branch || !parent || !branch.has(parent)) return false;
  if (row.uuid !== undefined) branch.add(row.uuid);
  return true;
}

function readRow(
  row: TranscriptRow,
  turn: TurnState,
  toolNames: Map<string, string>,
): readonly RecordEvent[] {
  switch (row.type) {
    case 'assistant':
      return row.isApiErrorMessage ? readFailure(row, turn) : readAssistant(row, turn, toolNames);
    case 'user':
      return readUserRow(row, turn, toolNames);
    case 'attachment':
      return readAttachment(row);
    case 'system':
      return readSystem(row, turn);
    default:
      return [];
  }
}

function readUserMessage(row: TranscriptRow): RecordEvent | undefined {
  if (row.type !== 'user' || row.isMeta || row.isCompactSummary) return undefined;
  const text = readText(row);
  // Commands of the CLI and what they print are kept as user rows; they are no messages.
  if (text === undefined || LOCAL_COMMAND.test(text) || INTERRUPTED.test(text)) return undefined;
  const isBackground = row.origin?.kind !== undefined && row.origin.kind !== 'human';
  return {
    type: 'message_accepted',
    text,
    nativeTurnId: row.promptId,
    origin: isBackground || text.startsWith('<task-notification>') ? 'background' : 'user',
  };
}

const LOCAL_COMMAND =
  /^<(?:command-name|command-message|local-command-\w+|bash-(?:input|stdout|stderr))>/;
const INTERRUPTED = /^\[Request interrupted by user(?: for tool use)?\]$/;

/** The text of a row; absent when it holds none, as a row of tool results. */
function readText({ message }: TranscriptRow): string | undefined {
  const content = message?.content;
  if (typeof content === 'string') return content;
  const texts = content?.flatMap((block) => (block.type === 'text' ? [block.text ?? ''] : []));
  return texts && texts.length > 0 ? texts.join('\n') : undefined;
}

function readUserRow(
  row: TranscriptRow,
  turn: TurnState,
  toolNames: Map<string, string>,
): readonly RecordEvent[] {
  const content = row.message?.content;
  const results = typeof content === 'string' ? [] : (content ?? []);
  const events: RecordEvent[] = results.flatMap(({ tool_use_id: callId }) =>
    callId === undefined
      ? []
      : [{ type: 'tool_finished', name: toolNames.get(callId) ?? '', callId } as const],
  );
  if (!INTERRUPTED.test(readText(row) ?? '')) return events;
  turn.hasFailed = true;
  return [...events, { type: 'turn_interrupted', nativeTurnId: row.promptId ?? turn.promptId }];
}

function readAssistant(
  row: TranscriptRow,
  turn: TurnState,
  toolNames: Map<string, string>,
): readonly RecordEvent[] {
  const { message } = row;
  // What the CLI puts in by itself, such as the closing of a turn that a crash cut off.
  if (!message || message.model === '<synthetic>') return [];
  const id = message.id ?? row.uuid ?? '';
  if (id !== turn.lastMessageId) {
    turn.lastMessageId = id;
    turn.answer = [];
  }
  turn.stopReason = message.stop_reason ?? turn.stopReason;
  if (message.usage) turn.usageByMessage.set(id, readUsage(message.usage));
  const blocks = typeof message.content === 'string' ? [] : (message.content ?? []);
  return blocks.flatMap((block): readonly RecordEvent[] => {
    if (block.type === 'text' && block.text) {
      turn.answer.push(block.text);
      return [{ type: 'text', text: block.text, partial: false }];
    }
    if (block.type !== 'tool_use' || block.id === undefined) return [];
    toolNames.set(block.id, block.name ?? '');
    return [{ type: 'tool_started', name: block.name ?? '', callId: block.id }];
  });
}

function readUsage(usage: NonNullable<NonNullable<TranscriptRow['message']>['usage']>): Usage {
  return {
    inputTokens: usage.input_tokens ?? 0,
    outputTokens: usage.output_tokens ?? 0,
    cacheReadTokens: usage.cache_read_input_tokens ?? 0,
    cacheWriteTokens: usage.cache_creation_input_tokens ?? 0,
  };
}

function readFailure(row: TranscriptRow, turn: TurnState): readonly RecordEvent[] {
  const error = typeof row.error === 'string' ? row.error : 'unknown';
  // The CLI goes on by itself after this one.
  if (error === 'max_output_tokens') return [];
  turn.hasFailed = true;
  const failure = readApiError({
    error,
    text: readText(row) ?? '',
    details: typeof row.errorDetails === 'string' ? row.errorDetails : undefined,
    status: row.apiErrorStatus ?? undefined,
  });
  return [{ type: 'turn_failed', ...failure, nativeTurnId: turn.promptId }];
}

function readAttachment({ attachment }: TranscriptRow): readonly RecordEvent[] {
  if (attachment?.type !== 'queued_command' || typeof attachment.prompt !== 'string') return [];
  const text = attachment.prompt;
  const origin = text.startsWith('<task-notification>') ? 'background' : 'user';
  return [{ type: 'message_accepted', text, origin }];
}

const BLOCKED =
  /^UserPromptSubmit operation blocked by hook:\n([\s\S]*?)\n\nOriginal prompt: ([\s\S]*)$/;

function readSystem(row: TranscriptRow, turn: TurnState): readonly RecordEvent[] {
  switch (row.subtype) {
    case 'compact_boundary':
      return [{ type: 'compaction_finished' }];
    case 'informational': {
      const blocked = BLOCKED.exec(typeof row.content === 'string' ? row.content : '');
      if (!blocked) return [];
      return [{ type: 'message_blocked', reason: blocked[1] ?? '', text: blocked[2] ?? '' }];
    }
    case 'turn_duration':
      return turn.hasFailed ? [] : [readEnd(turn)];
    default:
      return [];
  }
}

function readEnd(turn: TurnState): RecordEvent {
  const usage = sumUsage([...turn.usageByMessage.values()]);
  return {
    type: 'turn_ended',
    answer: turn.answer.join('\n\n'),
    ...(usage ? { usage } : {}),
    stopReason: turn.stopReason,
    backgroundWork: 0,
    nativeTurnId: turn.promptId,
  };
}

function sumUsage(usages: readonly Usage[]): Usage | undefined {
  if (usages.length === 0) return undefined;
  const sum = (read: (usage: Usage) => number | undefined) =>
    usages.reduce((total, usage) => total + (read(usage) ?? 0), 0);
  return {
    inputTokens: sum((usage) => usage.inputTokens),
    outputTokens: sum((usage) => usage.outputTokens),
    cacheReadTokens: sum((usage) => usage.cacheReadTokens),
    cacheWriteTokens: sum((usage) => usage.cacheWriteTokens),
  };
}

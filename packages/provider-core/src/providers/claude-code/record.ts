import type { RecordEvent } from '../../spec/record-event.js';
import type { RecordReader } from '../../spec/typed-pane.js';
import { readAnswer, STRUCTURED_ANSWER_TOOL } from './answer.js';
import { readApiError } from './api-error.js';
import { readTranscriptRow, type TranscriptRow } from './record.wire.js';
import { isTaskNotification, readContentText, readRowText } from './row-text.js';
import { type MessageNode, TranscriptTree } from './transcript-tree.js';

/** A row that belongs to a turn, until the message it belongs to has been read. */
interface HeldRow {
  readonly row: TranscriptRow;
  /** Nothing while more rows of the turn must be read first. */
  readonly tell: (owner: MessageNode) => readonly RecordEvent[] | undefined;
}

/** What ends a turn, and what names its message. */
export interface TranscriptForm {
  /**
   * `marked`: `system/turn_duration` ends a turn, as the TUI writes it. `unmarked`: `-p` writes no end; an answer with a
   * final stop reason is one, until more of the same turn follows. Its messages are named by their row.
   */
  readonly ends: 'marked' | 'unmarked';
}

/**
 * Reads the transcript. A turn ends with the text of its last assistant message; it fails at an API error row, after which
 * newer versions write no end, and is interrupted at the row that says so.
 */
export function createTranscriptReader(form: TranscriptForm = { ends: 'marked' }): RecordReader {
  const tree = new TranscriptTree();
  const toolNames = new Map<string, string>();
  let held: readonly HeldRow[] = [];

  const push = (value: unknown): readonly RecordEvent[] => {
    const row = readTranscriptRow(value);
    // Subagents keep a conversation of their own.
    if (!row || row.isSidechain) return [];
    const events = readMessageRow(row, tree, form) ?? readLooseRow(row, form);
    const tell = events ? undefined : readTurnRow(row, { tree, toolNames, form });
    if (!isMessage(row)) tree.add(row);
    if (tell) held = [...held, { row, tell }];
    const told = tellHeld(held, tree);
    held = told.held;
    return [...(events ?? []), ...told.events];
  };
  return { push };
}

/** The CLI resumes nothing when no message stands in the transcript, and takes its id for used. */
export function holdsConversation(transcript: string): boolean {
  return /"type":"(?:user|assistant)"/.test(transcript);
}

function tellHeld(held: readonly HeldRow[], tree: TranscriptTree) {
  const waiting: HeldRow[] = [];
  const events: RecordEvent[] = [];
  for (const each of held) {
    const owner = tree.findOwner(each.row);
    const told = owner && each.tell(owner);
    if (told) events.push(...told);
    else waiting.push(each);
  }
  // An end that stood before its own turn's text in the file still comes after it.
  return { held: waiting, events: events.toSorted((one, other) => rank(one) - rank(other)) };
}

function rank({ type }: RecordEvent): number {
  return type === 'turn_ended' || type === 'turn_failed' || type === 'turn_interrupted' ? 1 : 0;
}

const LOCAL_COMMAND =
  /^<(?:command-name|command-message|local-command-\w+|bash-(?:input|stdout|stderr))>/;
const INTERRUPTED = /^\[Request interrupted by user(?: for tool use)?\]$/;

/** Somebody said it, whatever it looks like. */
function isSaid({ promptSource }: TranscriptRow): boolean {
  return promptSource !== undefined && promptSource !== 'system';
}

/** Commands of the CLI and what they print are kept as user rows too; they are no messages. */
function isMessage(row: TranscriptRow): boolean {
  if (row.type !== 'user' || row.isMeta || row.isCompactSummary) return false;
  const text = readRowText(row);
  if (text === undefined) return false;
  return isSaid(row) || !(LOCAL_COMMAND.test(text) || INTERRUPTED.test(text));
}

function readMessageRow(
  row: TranscriptRow,
  tree: TranscriptTree,
  form: TranscriptForm,
): readonly RecordEvent[] | undefined {
  if (!isMessage(row)) return undefined;
  const text = readRowText(row) ?? '';
  const before = tree.latest;
  const isSame =
    before !== undefined &&
    !before.isOver &&
    before.text === text &&
    before.parent === (row.parentUuid ?? undefined);
  const isBackground =
    (row.origin?.kind !== undefined && row.origin.kind !== 'human') ||
    (!isSaid(row) && isTaskNotification(text));
  tree.addMessage(row, { text, isBackground }, isSame ? before : undefined);
  // Taken up again by itself after a restart: a second row of the same message, on the same parent.
  if (isSame) return [];
  return [
    ...tellAbandoned(row, tree, before),
    {
      type: 'message_accepted',
      text,
      ...nameOf(row.uuid, form),
      nativeTurnId: row.promptId,
      origin: isBackground ? 'background' : 'user',
    },
  ];
}

function nameOf(rowId: string | undefined, { ends }: TranscriptForm) {
  return ends === 'unmarked' && rowId !== undefined ? { clientMessageId: rowId } : {};
}

/** A message under way is off the active branch as soon as the next one hangs on something older. */
function tellAbandoned(
  row: TranscriptRow,
  tree: TranscriptTree,
  before: MessageNode | undefined,
): readonly RecordEvent[] {
  if (!before || before.isOver || tree.isBelow(row, before)) return [];
  before.isOver = true;
  return [{ type: 'branch_abandoned' }];
}

const BLOCKED =
  /^UserPromptSubmit operation blocked by hook:\n([\s\S]*?)\n\nOriginal prompt: ([\s\S]*)$/;

/** Rows that say something by themselves, whatever they hang on. */
function readLooseRow(
  row: TranscriptRow,
  form: TranscriptForm,
): readonly RecordEvent[] | undefined {
  if (row.type === 'attachment') return readAttachment(row, form);
  if (row.type !== 'system') return undefined;
  if (row.subtype === 'compact_boundary') return [{ type: 'compaction_finished' }];
  if (row.subtype !== 'informational') return undefined;
  const blocked = BLOCKED.exec(typeof row.content === 'string' ? row.content : '');
  if (!blocked) return undefined;
  return [{ type: 'message_blocked', reason: blocked[1] ?? '', text: blocked[2] ?? '' }];
}

/** A message that a running turn took in after a tool. */
function readAttachment(
  { attachment }: TranscriptRow,
  form: TranscriptForm,
): readonly RecordEvent[] | undefined {
  if (attachment?.type !== 'queued_command') return undefined;
  const text = attachment.prompt === undefined ? undefined : readContentText(attachment.prompt);
  if (text === undefined) return undefined;
  const origin = isTaskNotification(text) ? 'background' : 'user';
  return [{ type: 'message_accepted', text, ...nameOf(attachment.source_uuid, form), origin }];
}

interface RowReading {
  readonly tree: TranscriptTree;
  readonly toolNames: Map<string, string>;
  readonly form: TranscriptForm;
}

function readTurnRow(
  row: TranscriptRow,
  { tree, toolNames, form }: RowReading,
): HeldRow['tell'] | undefined {
  if (row.type === 'system' && row.subtype === 'turn_duration') {
    return (owner) => {
      const rows = tree.listEndedBranch(row, isAnswer);
      return rows && endTurn(owner, () => readEnd(rows, owner));
    };
  }
  if (row.type === 'assistant' && row.isApiErrorMessage) return readFailure(row);
  if (row.type === 'user' && !isSaid(row) && INTERRUPTED.test(readRowText(row) ?? '')) {
    return (owner) =>
      endTurn(owner, () => ({ type: 'turn_interrupted', nativeTurnId: owner.promptId }));
  }
  if (row.attachment?.type === STRUCTURED_ANSWER) return readStructuredAnswer(row, tree);
  const events = readProgress(row, toolNames);
  if (form.ends === 'unmarked' && isFinal(row)) {
    return (owner) => [...events, ...endForNow(owner, () => readEnd(tree.listBranch(row), owner))];
  }
  return events.length > 0 ? () => events : undefined;
}

const STRUCTURED_ANSWER = 'structured_output';

/** An answer that has a schema: a call of a tool that is none, whose input the CLI found to fit. The turn is over with it. */
function readStructuredAnswer(row: TranscriptRow, tree: TranscriptTree): HeldRow['tell'] {
  const said = { answer: JSON.stringify(row.attachment?.data ?? null) };
  const place = row.parentUuid == null ? {} : { rowId: row.parentUuid };
  return (owner) =>
    endForNow(owner, () => ({ ...readEnd(tree.listBranch(row), owner), ...said, ...place }));
}

/** After these the CLI goes on by itself only when a hook makes it; after all others it always does. */
const FINAL_STOPS: ReadonlySet<string> = new Set(['end_turn', 'stop_sequence']);

/** Each block of a message is a row; one without a word may be all there is, and is told as an end too. */
function isFinal({ type, message }: TranscriptRow): boolean {
  if (type !== 'assistant' || message?.model === '<synthetic>') return false;
  return FINAL_STOPS.has(message?.stop_reason ?? '');
}

/** The last words of a turn; before a tool there are more to come. */
function isAnswer(row: TranscriptRow): boolean {
  const { type, message } = row;
  if (type !== 'assistant' || message?.model === '<synthetic>' || !readRowText(row)) return false;
  return typeof message?.stop_reason === 'string' && message.stop_reason !== 'tool_use';
}

/** An end that a later one of the same turn may take the place of; a failure or an interruption may not. */
function endForNow(owner: MessageNode, read: () => RecordEvent): readonly RecordEvent[] {
  if (owner.isOver && !owner.isAnswered) return [];
  owner.isOver = true;
  owner.isAnswered = true;
  return [read()];
}

function endTurn(owner: MessageNode, read: () => RecordEvent): readonly RecordEvent[] {
  if (owner.isOver && !owner.isAnswered) return [];
  owner.isOver = true;
  owner.isAnswered = false;
  return [read()];
}

function readEnd(
  rows: readonly TranscriptRow[],
  owner: MessageNode,
): Extract<RecordEvent, { type: 'turn_ended' }> {
  return {
    type: 'turn_ended',
    ...readAnswer(rows),
    backgroundWork: 0,
    nativeTurnId: owner.promptId,
    ...(owner.isBackground ? { origin: 'background' } : {}),
  };
}

function readFailure(row: TranscriptRow): HeldRow['tell'] | undefined {
  const error = typeof row.error === 'string' ? row.error : 'unknown';
  // The CLI goes on by itself after this one.
  if (error === 'max_output_tokens') return undefined;
  const failure = readApiError({
    error,
    text: readRowText(row) ?? '',
    details: typeof row.errorDetails === 'string' ? row.errorDetails : undefined,
    status: row.apiErrorStatus ?? undefined,
  });
  return (owner) =>
    endTurn(owner, () => ({ type: 'turn_failed', ...failure, nativeTurnId: owner.promptId }));
}

/** Text and tools of a turn, block by block. */
function readProgress(
  { type, message }: TranscriptRow,
  toolNames: Map<string, string>,
): readonly RecordEvent[] {
  const content = message?.content;
  if (content === undefined || typeof content === 'string') return [];
  // What the CLI puts in by itself, such as the closing of a turn that a crash cut off.
  if (type === 'assistant' && message?.model === '<synthetic>') return [];
  return content.flatMap((block): readonly RecordEvent[] => {
    if (type === 'assistant' && block.type === 'text' && block.text) {
      return [{ type: 'text', text: block.text, partial: false }];
    }
    if (type === 'assistant' && block.type === 'tool_use' && block.id !== undefined) {
      toolNames.set(block.id, block.name ?? '');
      if (block.name === STRUCTURED_ANSWER_TOOL) return [];
      return [{ type: 'tool_started', name: block.name ?? '', callId: block.id }];
    }
    const { tool_use_id: callId } = block;
    if (type !== 'user' || callId === undefined) return [];
    const name = toolNames.get(callId) ?? '';
    return name === STRUCTURED_ANSWER_TOOL ? [] : [{ type: 'tool_finished', name, callId }];
  });
}

import type { ConversationItem, ModelRequest } from './model-request.js';

/** Blocks that a CLI writes under the user's role: they stand alone, from opening to closing tag. */
const wrapperTags = [
  // Claude Code
  'system-reminder',
  'local-command-caveat',
  'command-name',
  'command-message',
  'local-command-stdout',
  'local-command-stderr',
  'bash-input',
  'bash-stdout',
  'task-notification',
  // Codex CLI
  'environment_context',
  'user_instructions',
  'user_shell_command',
  'turn_aborted',
  'skill',
  'subagent_notification',
];

const summaryOpenings = [
  'This session is being continued from a previous conversation that ran out of context.',
  'Another language model started to solve this problem and produced a summary',
];

const compactionOpenings = [
  'CRITICAL: Respond with TEXT ONLY. Do NOT call any tools.',
  'You are performing a CONTEXT CHECKPOINT COMPACTION.',
];

/** How Claude Code asks once more, after an answer without a visible word and after a refusal. */
const askingAgain = [
  '[Your previous response had no visible output. Please continue',
  'Your response above was stopped by a safety classifier',
];

const injectedOpenings = [
  ...askingAgain,
  ...summaryOpenings,
  ...compactionOpenings,
  'The user sent a new message while you were working:\n',
  'Stop hook feedback:\n',
  'Output token limit hit. Resume directly',
  '# AGENTS.md instructions for ',
];

const injectedTexts = [
  '[Request interrupted by user]',
  '[Request interrupted by user for tool use]',
  // As it finishes a turn that was cut off.
  'Continue from where you left off.',
];

/** A human message, and where it stands among the items of its request. */
export interface UserMessage {
  readonly text: string;
  readonly itemIndex: number;
}

/**
 * The human messages of a request, oldest first, each with the bytes the human gave it. What the CLI itself wrote under
 * the user's role is left out, also a message it took in while a tool ran: that one has no item of its own.
 */
export function readUserMessages(request: ModelRequest): readonly string[] {
  return findUserMessages(request).map(({ text }) => text);
}

/** As {@link readUserMessages}, with the place of each message. */
export function findUserMessages(request: ModelRequest): readonly UserMessage[] {
  return request.messages.flatMap((item, itemIndex) =>
    readUserTexts(request, item)
      .filter((text) => !isInjected(text))
      .map((text) => ({ text, itemIndex })),
  );
}

/** The summaries that a compaction left in the place of earlier messages. */
export function readSummaries(request: ModelRequest): readonly string[] {
  return request.messages
    .flatMap((item) => readUserTexts(request, item))
    .filter((text) => opensWith(text, summaryOpenings));
}

/** Whether the last text of a conversation asks for its summary. */
export function isCompaction(messages: readonly ConversationItem[]): boolean {
  const last = messages.findLast(({ role }) => role === 'user')?.texts.at(-1);
  return last !== undefined && opensWith(last, compactionOpenings);
}

/** Whether the CLI asks once more, by itself, for an answer to the last message. */
export function isAskedAgain({ messages }: ModelRequest): boolean {
  const last = messages.findLast(({ role }) => role === 'user' || role === 'tool');
  const text = last?.texts.at(-1) ?? '';
  // Newer versions wrap what they say themselves.
  return opensWith(text.replace(/^<system-reminder>\n/, ''), askingAgain);
}

/**
 * Claude Code joins user messages that follow each other (after an error, an interruption, or a queue) into one, and adds
 * a newline to each but the last. That newline is not the human's.
 */
function readUserTexts(request: ModelRequest, item: ConversationItem): readonly string[] {
  if (item.role !== 'user') return [];
  if (request.protocol !== 'anthropic-messages') return item.texts;
  return item.texts.map((text, index) =>
    index < item.texts.length - 1 && text.endsWith('\n') ? text.slice(0, -1) : text,
  );
}

function isInjected(text: string): boolean {
  const trimmed = text.trim();
  return injectedTexts.includes(trimmed) || opensWith(text, injectedOpenings) || isWrapped(trimmed);
}

function opensWith(text: string, openings: readonly string[]): boolean {
  return openings.some((opening) => text.startsWith(opening));
}

/** A CLI closes what it opens, though not always with the same tag (`<command-name>` … `</command-args>`). */
function isWrapped(text: string): boolean {
  const tag = wrapperTags.find((name) => text.startsWith(`<${name}>`));
  return tag !== undefined && /<\/[a-z_-]+>$/.test(text);
}

import type { Composer, PaneScreen } from '../../spec/typed-pane.js';
import { findDialog } from './dialogs.js';
import { readStyledLines, type StyledLine } from './styled-lines.js';

/** Prompt and a no-break space: a message that was sent shows the same sign with a plain space. */
const PROMPT = /^[❯!]\u00a0/;
const RULE = /^─{10}.*─$/;
const COLLAPSED = /\[Pasted text #\d+(?: \+\d+ lines)?\]/;

/** Reads a capture with its colours. It tells drafts and pages; whether a turn runs is not read here. */
export function readScreen(capture: string): PaneScreen {
  const lines = readStyledLines(capture);
  const text = lines.map((line) => line.text).join('\n');
  const composer = findComposer(lines);
  if (composer) return { state: 'composer', composer };
  const dialog = findDialog(text);
  if (dialog) return { state: 'page', ...dialog };
  const tall = findTallComposer(lines);
  if (tall) return { state: 'composer', composer: tall };
  return { state: 'unreadable', text };
}

function findComposer(lines: readonly StyledLine[]): Composer | undefined {
  const bottom = lines.findLastIndex(
    (line, index) => RULE.test(line.text) && findTop(lines, index) !== undefined,
  );
  const top = findTop(lines, bottom);
  return top === undefined ? undefined : readComposer(lines.slice(top + 1, bottom));
}

/** The rule above the rule at `bottom`, when the line below it begins with the prompt. */
function findTop(lines: readonly StyledLine[], bottom: number): number | undefined {
  const top = lines.slice(0, Math.max(bottom, 0)).findLastIndex((line) => RULE.test(line.text));
  return top >= 0 && PROMPT.test(lines[top + 1]?.text ?? '') ? top : undefined;
}

function readComposer(lines: readonly StyledLine[]): Composer {
  const isOtherMode = lines[0]?.text.startsWith('!') ?? false;
  const visible = lines.map((line) => line.solidText.slice(2).trimEnd());
  const isEmpty = visible.every((line) => line === '');
  if (isOtherMode) return { content: 'other_mode', lines: visible, isCut: false };
  if (isEmpty) return { content: 'empty', lines: [], isCut: false };
  const joined = visible.join('');
  const content = joined.replace(COLLAPSED, '').trim() === '' ? 'token' : 'text';
  return { content, lines: visible, isCut: false };
}

/** A composer taller than the pane: no prompt to be seen, only the indented end and the rule below it. */
function findTallComposer(lines: readonly StyledLine[]): Composer | undefined {
  const bottom = lines.findLastIndex((line) => RULE.test(line.text));
  const above = lines.slice(0, Math.max(bottom, 0));
  if (above.length < 10 || !above.every(({ text }) => /^( {2}|$)/.test(text))) return undefined;
  return { content: 'text', lines: above.map(({ text }) => text.slice(2).trimEnd()), isCut: true };
}

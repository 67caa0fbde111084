import type { DeliveryPlan, DeliveryRequest } from '../../spec/typed-pane.js';
import { isNewerThan } from './version.js';

/** What this version takes in one collapsed paste, exactly; newer ones wrap such a paste in tags. */
const LAST_EXACT_COLLAPSE = '2.1.197';
const MAX_COLLAPSED_BYTES = 1_000_000;
/** Beyond it the composer needs many seconds to take the pastes. */
const MAX_INLINE_BYTES = 100_000;
/** A paste longer than 800 characters, or with 3 newlines, is collapsed; well below both stays inline. */
const MAX_PASTE_CHARACTERS = 700;
const MAX_PASTE_NEWLINES = 2;

/** Plans how the text goes into the composer so that exactly it reaches the model, or says why it cannot. */
export function planDelivery({ text, cliVersion }: DeliveryRequest): DeliveryPlan {
  const stripsInvisible = isNewerThan(cliVersion, LAST_EXACT_COLLAPSE);
  const refusal = REFUSALS.find(({ applies }) => applies(text));
  if (refusal) return refuse(refusal.reason, refusal.detail);
  if (stripsInvisible && holdsInvisible(text)) {
    return refuse('invisible_character', 'this version removes invisible and control characters.');
  }
  // Seen on 2.1.332: `<pasted_content` arrives as `<\pasted_content`, so that a text cannot pass for a paste.
  if (stripsInvisible && /<\/?pasted_content/i.test(text)) {
    return refuse('paste_tag', 'this version escapes the tags it wraps a paste in.');
  }
  const mentionedPaths = readMentionedPaths(text);
  const collapses = text.length > 800 || countNewlines(text) >= 3;
  if (collapses && !stripsInvisible) return planCollapsed(text, mentionedPaths);
  return planInline(text, mentionedPaths);
}

function planCollapsed(text: string, mentionedPaths: readonly string[]): DeliveryPlan {
  if (Buffer.byteLength(text) > MAX_COLLAPSED_BYTES) {
    return refuse('too_long', `a pane takes ${MAX_COLLAPSED_BYTES} bytes at most.`);
  }
  return { kind: 'pastes', pastes: [text], shownAs: 'token', mentionedPaths };
}

function planInline(text: string, mentionedPaths: readonly string[]): DeliveryPlan {
  if (Buffer.byteLength(text) > MAX_INLINE_BYTES) {
    return refuse('too_long', `a pane of this version takes ${MAX_INLINE_BYTES} bytes at most.`);
  }
  if (text.normalize('NFC') !== text) {
    return refuse('decomposed_character', 'the composer composes characters (Unicode NFC).');
  }
  return { kind: 'pastes', pastes: splitIntoPastes(text), shownAs: 'text', mentionedPaths };
}

interface Refusal {
  readonly reason: string;
  readonly detail: string;
  readonly applies: (text: string) => boolean;
}

/** Judged in this order; each was seen to be altered, dropped or acted upon by a real composer. */
const REFUSALS: readonly Refusal[] = [
  { reason: 'empty', detail: 'it is empty or blank.', applies: (text) => text.trim() === '' },
  {
    reason: 'malformed_unicode',
    detail: 'it holds half a surrogate pair.',
    applies: (text) => Buffer.from(text).toString() !== text,
  },
  {
    reason: 'tab',
    detail: 'the composer turns a tab into four spaces.',
    applies: (text) => text.includes('\t'),
  },
  {
    reason: 'carriage_return',
    detail: 'the composer turns a carriage return into a newline.',
    applies: (text) => text.includes('\r'),
  },
  {
    reason: 'escape',
    detail: 'the composer takes ESC and C1 characters for key sequences.',
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for.
    applies: (text) => /[\u001b\u0080-\u009f]/.test(text),
  },
  {
    reason: 'null_character',
    detail: 'tmux cannot paste a NUL character.',
    applies: (text) => text.includes('\0'),
  },
  {
    reason: 'shell_command',
    detail: 'a leading "!" makes it a shell command.',
    applies: (text) => text.startsWith('!'),
  },
  {
    reason: 'slash_command',
    detail: 'a leading "/word" makes it a command of the CLI.',
    applies: (text) => /^\/[^\s/]*(\s|$)/.test(text),
  },
  {
    reason: 'exit_word',
    detail: 'alone it ends the CLI.',
    applies: (text) => /^(exit|quit|:q!?|:wq!?)$/i.test(text.trim()),
  },
  {
    reason: 'outer_blanks',
    detail: 'the composer trims blanks and newlines at the ends.',
    applies: (text) => text.trim() !== text,
  },
  {
    reason: 'trailing_backslash',
    detail: 'Enter after a backslash makes a new line.',
    applies: (text) => text.endsWith('\\'),
  },
  {
    reason: 'trailing_mention',
    detail: 'Enter after "@word" picks a completion.',
    applies: (text) => /(^|[\s(])@\S*$/.test(text),
  },
  {
    reason: 'resource_mention',
    detail: '"@agent-…" and "@server:…" are replaced by what they name.',
    applies: (text) => /(^|\s)@(agent-|"|[^\s:@]+:[^\s])/.test(text),
  },
  {
    reason: 'unassigned_character',
    detail:
      'what stands for no character of Unicode is not shown, so that the composer cannot be checked.',
    applies: (text) => /\p{Cn}/u.test(text),
  },
  {
    reason: 'image_path',
    detail: 'the path of an image becomes the image.',
    applies: (text) => text.split('\n').some(isImagePath),
  },
];

/** A part of a line that is a path of a kind of file the CLI shows to the model; it looks for them where a path may begin. */
function isImagePath(line: string): boolean {
  const parts = line.split(/ (?=\/|[A-Za-z]:\\)/).map((part) => part.trim());
  return parts.some((part) =>
    /^(['"]?)(?:(?:[~./]|[A-Za-z]:\\).*|\S+)\.(?:png|jpe?g|gif|webp|bmp)\1$/i.test(part),
  );
}

/** Characters that newer versions remove, unless they join what is seen (emoji, Devanagari and Arabic script). */
function holdsInvisible(text: string): boolean {
  const joined = text
    .replace(
      /(?<=\p{Extended_Pictographic}\p{Emoji_Modifier}?\ufe0f?)\u200d(?=\p{Extended_Pictographic})/gu,
      '',
    )
    .replace(/(?<=[\p{Emoji}\p{Extended_Pictographic}])\ufe0f/gu, '')
    .replace(
      /(?<=[\p{sc=Arabic}\p{sc=Devanagari}])[\u200c\u200d](?=[\p{sc=Arabic}\p{sc=Devanagari}])/gu,
      '',
    )
    .replace(/\u{1f3f4}[\u{e0061}-\u{e007a}]+\u{e007f}/gu, '');
  return /(?!\n)[\p{Cc}\p{Default_Ignorable_Code_Point}\u2028\u2029\ufff9-\ufffb\u{13430}-\u{1343f}]/u.test(
    joined,
  );
}

function countNewlines(text: string): number {
  return text.split('\n').length - 1;
}

/** Pieces that each stay inline. Split between code points, and glued together by the composer. */
function splitIntoPastes(text: string): readonly string[] {
  const pastes: string[] = [];
  let piece = '';
  let newlines = 0;
  for (const character of text) {
    if (piece.length >= MAX_PASTE_CHARACTERS || newlines >= MAX_PASTE_NEWLINES) {
      pastes.push(piece);
      piece = '';
      newlines = 0;
    }
    piece += character;
    if (character === '\n') newlines += 1;
  }
  return [...pastes, piece];
}

/** What stands after each `@`, with and without the punctuation that may follow a path. */
export function readMentionedPaths(text: string): readonly string[] {
  const tokens = [...text.matchAll(/(?:^|[^\p{L}\p{N}_])@([^\s@]+)/gu)].map(
    (match) => match[1] ?? '',
  );
  const paths = tokens.flatMap((token) => [
    token,
    token.replace(/[^\p{L}\p{N}_/~-]+$/u, ''),
    token.replace(/[#:].*$/, ''),
  ]);
  return [...new Set(paths)].filter((path) => path !== '');
}

function refuse(reason: string, detail: string): DeliveryPlan {
  return { kind: 'refused', reason, detail };
}

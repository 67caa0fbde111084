import { describe, expect, it } from 'vitest';
import { planDelivery } from './delivery.js';

const OLDER = '2.1.197';
const NEWER = '2.1.332';
const plan = (text: string, cliVersion = NEWER) => planDelivery({ text, cliVersion });

describe('planDelivery', () => {
  // Each row was seen to be altered, dropped or acted upon by a real composer.
  it.each([
    ['empty', ''],
    ['empty', ' \n '],
    ['malformed_unicode', 'a\ud800b'],
    ['tab', 'a\tb'],
    ['carriage_return', 'a\r\nb'],
    ['escape', 'a\u001b[31mb'],
    ['escape', 'a\u009bb'],
    ['null_character', 'a\0b'],
    ['shell_command', '!ls'],
    ['slash_command', '/clear'],
    ['slash_command', '/model opus'],
    ['exit_word', 'exit'],
    ['exit_word', ':q'],
    ['outer_blanks', 'hello '],
    ['outer_blanks', '\nhello'],
    ['trailing_backslash', 'C:\\'],
    ['trailing_mention', 'ask @someone'],
    ['resource_mention', 'ask @agent-reviewer to look'],
    ['resource_mention', 'read @docs:file://x please'],
    ['unassigned_character', 'a \u{a2dd3} b'],
    ['image_path', '/tmp/picture.png'],
    ['image_path', 'look:\nfirst /tmp/picture.png'],
    ['image_path', 'look:\n"./a b.jpg"\nnow'],
  ])('refuses what the composer would change (%s)', (reason, text) => {
    expect(plan(text, OLDER)).toMatchObject({ kind: 'refused', reason });
    expect(plan(text, NEWER)).toMatchObject({ kind: 'refused', reason });
  });

  it.each([
    '/etc/passwd is a file',
    '//x',
    'a # b',
    'mail me@example.org now',
    'is a.png there?',
    'see /tmp/a.png please',
  ])('lets %j go in as it is', (text) => {
    expect(plan(text)).toMatchObject({ kind: 'pastes', pastes: [text] });
  });

  it('refuses a decomposed character that would go in inline, and only then', () => {
    const long = `cafe\u0301 ${'x'.repeat(900)}`;
    expect(plan('cafe\u0301', OLDER)).toMatchObject({ reason: 'decomposed_character' });
    expect(plan(long, OLDER)).toMatchObject({ kind: 'pastes', shownAs: 'token' });
    expect(plan(long, NEWER)).toMatchObject({ reason: 'decomposed_character' });
  });

  it.each(['a\u0001b', 'a\u200bb', 'a\u200db', 'ab\ufeffc', 'a\u2028b', 'a\ufe0fb'])(
    'refuses the invisible character in %j where the version removes it',
    (text) => {
      expect(plan(text, OLDER)).toMatchObject({ kind: 'pastes' });
      expect(plan(text, NEWER)).toMatchObject({ reason: 'invisible_character' });
    },
  );

  it.each(['👨‍👩‍👧‍👦', '🏴󠁧󠁢󠁥󠁮󠁧󠁿 flag', '❤️', 'क्‍ष', 'می‌خواهم', '世界 🙂'])(
    'lets the joined %s go in',
    (text) => {
      expect(plan(text, NEWER)).toMatchObject({ kind: 'pastes', pastes: [text] });
    },
  );

  it('pastes a long text once where it arrives as pasted, and in small pieces where it is wrapped', () => {
    const text = Array.from({ length: 9 }, (_, index) => `line ${index}`).join('\n');
    expect(plan(text, OLDER)).toMatchObject({ pastes: [text], shownAs: 'token' });
    const pieces = plan(text, NEWER);
    if (pieces.kind !== 'pastes') throw new Error('unreachable: it is deliverable');
    expect(pieces.shownAs).toBe('text');
    expect(pieces.pastes.join('')).toBe(text);
    expect(pieces.pastes.every((piece) => piece.split('\n').length <= 3)).toBe(true);
  });

  it('cuts no character in two', () => {
    const text = '🙂'.repeat(1_000);
    const pieces = plan(text);
    if (pieces.kind !== 'pastes') throw new Error('unreachable: it is deliverable');
    expect(pieces.pastes.join('')).toBe(text);
    expect(pieces.pastes.every((piece) => Buffer.from(piece).toString() === piece)).toBe(true);
  });

  it('refuses a text of 10 MB on every version', () => {
    const text = 'x'.repeat(10_000_000);
    expect(plan(text, OLDER)).toMatchObject({ reason: 'too_long' });
    expect(plan(text, NEWER)).toMatchObject({ reason: 'too_long' });
  });

  it('names what may be the name of a file, for the transport to look', () => {
    const result = plan('see @src/index.ts, and (@README.md#L3) but not me@example.org.');
    expect(result).toMatchObject({
      mentionedPaths: expect.arrayContaining(['src/index.ts', 'README.md']),
    });
  });
});

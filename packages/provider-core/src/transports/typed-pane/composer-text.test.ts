import { describe, expect, it } from 'vitest';
import type { Composer } from '../../spec/typed-pane.js';
import { showsDelivery, showsText } from './composer-text.js';

const composer = (lines: readonly string[], more: Partial<Composer> = {}): Composer => ({
  content: 'text',
  lines,
  isCut: false,
  ...more,
});
const delivery = (text: string, shownAs: 'text' | 'token' = 'text') =>
  ({ kind: 'pastes', pastes: [text], shownAs, mentionedPaths: [] }) as const;

describe('showsDelivery', () => {
  it('sees a text that the composer laid out anew', () => {
    const shown = composer(['a long line that was', 'broken in two', '', 'end']);
    expect(showsDelivery(shown, delivery('a long line that was broken in two\n\nend'))).toBe(true);
  });

  it.each([
    ['something before it', ['draft hello']],
    ['something after it', ['hello draft']],
    ['a part of it', ['hel']],
  ])('does not take %s for it', (_what, lines) => {
    expect(showsDelivery(composer(lines), delivery('hello'))).toBe(false);
  });

  it('takes an empty composer for nothing of ours', () => {
    expect(showsDelivery(composer([], { content: 'empty' }), delivery('🙂'))).toBe(false);
  });

  it('sees a text that looks like a token, and one of pictures that tmux shows in part', () => {
    const token = composer(['[Pasted text #1 +3 lines]'], { content: 'token' });
    expect(showsDelivery(token, delivery('[Pasted text #1 +3 lines]'))).toBe(true);
    expect(showsDelivery(composer(['🙂 👨‍👩‍👧‍']), delivery('🙂\n👨‍👩‍👧‍👦'))).toBe(true);
  });

  it('sees the token that stands for the text, and no second one', () => {
    const one = composer(['[Pasted text #3 +4 lines]'], { content: 'token' });
    const two = composer(['[Pasted text #3 +4 lines][Pasted text #4]'], { content: 'token' });
    expect(showsDelivery(one, delivery('a\nb\nc\nd\ne', 'token'))).toBe(true);
    expect(showsDelivery(two, delivery('a\nb\nc\nd\ne', 'token'))).toBe(false);
    expect(showsDelivery(one, delivery('a\nb\nc\nd\ne'))).toBe(false);
  });

  it('sees the end of a text that is taller than the screen', () => {
    const text = Array.from({ length: 90 }, (_, index) => `line ${index}`);
    const end = composer(text.slice(40), { isCut: true });
    expect(showsDelivery(end, delivery(text.join('\n')))).toBe(true);
    expect(showsDelivery(end, delivery(`${text.join('\n')}\nmore`))).toBe(false);
  });

  it('sees a long line that the composer shortens in the middle', () => {
    const text = `start ${'x'.repeat(20_000)} end`;
    const shown = composer(['start xxx[...Truncated text #1 +0 lines...]xxx end']);
    expect(showsDelivery(shown, delivery(text))).toBe(true);
    expect(showsText(shown, `other ${text}`)).toBe(false);
  });
});

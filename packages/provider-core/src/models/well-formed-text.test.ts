import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkWellFormedText, isWellFormedText, toWellFormedValue } from './well-formed-text.js';
import { createWholeCharacters } from './whole-characters.js';

describe('a text with half of an emoji (B36)', () => {
  it.each(['cut \ud83d', '\ude42 late', 'a\ud83db', '\ude42\ud83d'])('is refused: %j', (text) => {
    expect(isWellFormedText(text)).toBe(false);
    expect(() => checkWellFormedText(text, 'The message')).toThrow(
      expect.objectContaining({ kind: 'undeliverable_message', reason: 'ill_formed_text' }),
    );
  });

  it('is mended where the model said it, in keys and lists too, and nothing else is changed', () => {
    const said = { 'k\ud83d': ['x\ude42', 1, null, true], whole: '🙂\u2028\0' };
    expect(toWellFormedValue(said)).toEqual({
      'k\ufffd': ['x\ufffd', 1, null, true],
      whole: '🙂\u2028\0',
    });
  });
});

describe('streamed text', () => {
  it('is cut at characters wherever the pieces were cut', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.array(fc.nat()), (text, cuts) => {
        const places = [...cuts.map((cut) => cut % (text.length + 1)), text.length];
        const characters = createWholeCharacters();
        let start = 0;
        const pieces = places
          .sort((one, other) => one - other)
          .map((end) => {
            const piece = characters.next(text.slice(start, end));
            start = end;
            return piece;
          });
        expect(pieces.join('')).toBe(text);
        expect(pieces.every(isWellFormedText)).toBe(true);
      }),
    );
  });
});

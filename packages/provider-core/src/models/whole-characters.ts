/**
 * Cuts streamed text at characters: half of a surrogate pair at the end of a piece waits for its other half, so that each
 * piece can be written as UTF-8 by itself.
 */
export function createWholeCharacters(): { readonly next: (piece: string) => string } {
  let held = '';
  return {
    next: (piece) => {
      const text = held + piece;
      const isHalf = /[\uD800-\uDBFF]$/.test(text);
      held = isHalf ? text.slice(-1) : '';
      return isHalf ? text.slice(0, -1) : text;
    },
  };
}

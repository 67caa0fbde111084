/**
 * At most `limit` units of a text, cut between two characters as people count them, an ellipsis for the rest. A lone
 * half of a surrogate pair becomes the replacement character.
 */
export function clipText(text: string, limit: number): string {
  const whole = text.toWellFormed();
  if (whole.length <= limit) return whole;
  let end = 0;
  // One more unit than fits is looked at, so that a character which ends right at the limit is kept.
  const segmenter = new Intl.Segmenter('en', { granularity: 'grapheme' });
  for (const { index, segment } of segmenter.segment(whole.slice(0, limit + 1))) {
    if (index + segment.length > limit - 1) break;
    end = index + segment.length;
  }
  return `${whole.slice(0, end)}…`;
}

/** The text on one line: every run of line breaks and other control characters becomes one blank. */
export function joinLines(text: string): string {
  return text.replace(/[\p{Cc}\p{Zl}\p{Zp}\s]+/gu, ' ').trim();
}

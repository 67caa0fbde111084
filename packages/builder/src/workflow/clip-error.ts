const MAX_ERROR_CHARACTERS = 2_000;
const KEPT_CHARACTERS = 1_000;

/** An error's text as a state file may hold it: the first and last 1000 characters of a longer one, no character cut in two. */
export function clipError(text: string): string {
  // Fewer units than characters allowed: most texts need no list of characters.
  if (text.length <= MAX_ERROR_CHARACTERS) return text;
  const characters = Array.from(text);
  if (characters.length <= MAX_ERROR_CHARACTERS) return text;
  return [...characters.slice(0, KEPT_CHARACTERS), ...characters.slice(-KEPT_CHARACTERS)].join('');
}

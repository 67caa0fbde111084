/**
 * One argument in tmux's command language. All but plain characters become octal escapes: inside double quotes tmux still
 * expands a leading `~`, `$NAME` and backslashes, and a newline would end the command.
 */
export function quoteArgument(value: string): string {
  if (value.includes('\0')) throw new TypeError('tmux arguments cannot hold a NUL character');
  if (Buffer.from(value).toString() !== value) {
    throw new TypeError('tmux arguments must be well-formed Unicode');
  }
  const escaped = value.replace(
    /[^A-Za-z0-9_.:@%+,=/ \u0080-\uffff-]/g,
    (character) => `\\${character.charCodeAt(0).toString(8).padStart(3, '0')}`,
  );
  return `"${escaped}"`;
}

/** As {@link quoteArgument}, for the arguments that tmux expands as a format: `#` stays a `#`. */
export function quoteFormatLiteral(value: string): string {
  return quoteArgument(value.replaceAll('#', '##'));
}

const PLAIN_TOKEN = /^[A-Za-z0-9_-]{1,128}$/;

/** Throws unless `token` can stand in a tmux format without being read as syntax. */
export function checkPlainToken(token: string, name: string): void {
  if (!PLAIN_TOKEN.test(token)) {
    throw new TypeError(`${name} must be 1 to 128 characters of A-Z, a-z, 0-9, _ and -`);
  }
}

/** The session name tmux will keep: it rewrites dots and colons by itself, so we do it first. */
export function readSessionName(wanted: string): string {
  const name = wanted.replace(/[^A-Za-z0-9_-]/g, '_').slice(0, 100);
  return name.replace(/^-+/, '_') || '_';
}

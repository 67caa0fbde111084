/** The version in what `claude --version` prints (`2.1.197 (Claude Code)`). */
export function readVersion(output: string): string | undefined {
  return /^\s*(\d+\.\d+\.\d+)/.exec(output)?.[1];
}

/** Compares dotted version numbers; what cannot be read counts as newer. */
export function isNewerThan(version: string, other: string): boolean {
  const [ours, theirs] = [version, other].map((text) => text.split('.').map(Number));
  for (let index = 0; index < 3; index += 1) {
    const [one, two] = [ours?.[index] ?? Number.NaN, theirs?.[index] ?? Number.NaN];
    if (Number.isNaN(one) || one > two) return true;
    if (one < two) return false;
  }
  return false;
}

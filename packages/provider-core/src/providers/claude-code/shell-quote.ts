/** One word of `sh`, whatever stands in it. */
export function quoteForShell(value: string): string {
  return `'${value.replaceAll("'", "'\\''")}'`;
}

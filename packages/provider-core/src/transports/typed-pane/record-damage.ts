/** Where a record holds lines that are no JSON; what stands there is skipped, by the CLI and by us. */
export interface RecordDamage {
  readonly lines: number;
  /** Byte at which the first of them begins. */
  readonly firstOffset: number;
}

/** Looks for damaged lines. A last line without an end is only unfinished: the CLI was stopped as it wrote it. */
export function findDamage(record: Buffer): RecordDamage | undefined {
  let lines = 0;
  let firstOffset = 0;
  let start = 0;
  for (let end = record.indexOf(0x0a); end >= 0; end = record.indexOf(0x0a, start)) {
    if (isDamaged(record, start, end)) {
      if (lines === 0) firstOffset = start;
      lines += 1;
    }
    start = end + 1;
  }
  return lines === 0 ? undefined : { lines, firstOffset };
}

/** By its first and last byte, and as a whole only where those are right and it holds a NUL: records are long. */
function isDamaged(record: Buffer, start: number, end: number): boolean {
  const line = record.subarray(start, end);
  if (line.length === 0) return false;
  if (line[0] !== BRACE_OPEN || line.at(-1) !== BRACE_CLOSE) return true;
  return line.includes(0);
}

const BRACE_OPEN = 0x7b;
const BRACE_CLOSE = 0x7d;

/** One sentence, for people. */
export function describeDamage({ lines, firstOffset }: RecordDamage): string {
  const what = lines === 1 ? 'a damaged line' : `${lines} damaged lines`;
  return `The CLI's record of the session holds ${what}, the first at byte ${firstOffset}. What stood there is missing from the conversation; the file was left as it is.`;
}

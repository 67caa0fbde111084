import * as z from 'zod';

const row = z.looseObject({
  type: z.string(),
  uuid: z.string().optional(),
  parentUuid: z.string().nullish(),
  leafUuid: z.string().optional(),
  isSidechain: z.boolean().optional(),
});

type Row = z.output<typeof row>;

/**
 * The row that the CLI itself writes when it ends in good order, where the last one of its kind is out of date.
 *
 * It names the leaf to resume from. Seen on 2.1.197: the CLI is ended by SIGHUP in the middle of a tool, which leaves a
 * leaf that nothing follows; the session goes on beside it, and is then killed without a word. The next resume begins at
 * the old leaf, and everything since has left the conversation.
 */
export function planResumeMark(record: string, nativeSessionId: string): string | undefined {
  const rows = readRows(record);
  const markIndex = rows.findLastIndex(({ type }) => type === 'last-prompt');
  const marked = rows[markIndex]?.leafUuid;
  if (marked === undefined) return undefined;
  const leaf = findLeaf(rows.slice(markIndex + 1));
  if (leaf === undefined || descendsFrom(rows, leaf, marked)) return undefined;
  const mark = { type: 'last-prompt', leafUuid: leaf, sessionId: nativeSessionId };
  // A last line that was cut off gets its end first.
  return `${record.endsWith('\n') ? '' : '\n'}${JSON.stringify(mark)}\n`;
}

function readRows(record: string): readonly Row[] {
  return record.split('\n').flatMap((line) => {
    try {
      return row.safeParse(JSON.parse(line)).data ?? [];
    } catch {
      return [];
    }
  });
}

/** The last row of the conversation that no other row follows. Rows are not always in the order of the conversation. */
function findLeaf(rows: readonly Row[]): string | undefined {
  const parents = new Set(rows.map(({ parentUuid }) => parentUuid));
  return rows.findLast(
    ({ uuid, isSidechain }) => uuid !== undefined && !isSidechain && !parents.has(uuid),
  )?.uuid;
}

function descendsFrom(rows: readonly Row[], leaf: string, ancestor: string): boolean {
  const parentOf = new Map(rows.map(({ uuid, parentUuid }) => [uuid, parentUuid ?? undefined]));
  let current: string | undefined = leaf;
  for (let steps = 0; current !== undefined && steps <= rows.length; steps += 1) {
    if (current === ancestor) return true;
    current = parentOf.get(current);
  }
  return false;
}

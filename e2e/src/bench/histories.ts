import { randomUUID } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';

type Line = Readonly<Record<string, unknown>>;

/**
 * Makes a Claude Code transcript as long as `turns`, by repeating the records of its second turn under fresh ids.
 * No process may hold the session.
 */
export async function lengthenTranscript(path: string, turns: number): Promise<void> {
  const lines = await readLines(path);
  const starts = lines.flatMap((line, index) => (isTyped(line) ? [index] : []));
  const [, second, third] = starts;
  if (second === undefined || third === undefined) throw new Error(`${path} has no third turn.`);
  const head = lines.slice(0, second);
  const block = lines.slice(second, third).filter(({ uuid }) => uuid !== undefined);
  let previous = head.findLast(({ uuid }) => uuid !== undefined)?.['uuid'];
  const repeated = Array.from({ length: turns - 1 }, (_, turn) =>
    block.map((line) => {
      const uuid = randomUUID();
      const renamed: Line = { ...line, uuid, parentUuid: previous, ...renamePrompt(line, turn) };
      previous = uuid;
      return renamed;
    }),
  );
  await writeLines(path, [...head, ...repeated.flat()]);
}

/** The same transcript under another session's id. */
export async function copyTranscript(from: string, to: string, ids: readonly [string, string]) {
  const text = await readFile(from, 'utf8');
  await writeFile(to, text.replaceAll(...ids), { mode: 0o600 });
}

/** Makes a Codex rollout as long as `turns`, in the same way. */
export async function lengthenRollout(path: string, turns: number): Promise<void> {
  const lines = await readLines(path);
  const starts = lines.flatMap((line, index) => (isTaskStart(line) ? [index] : []));
  const [, second, third] = starts;
  if (second === undefined || third === undefined) throw new Error(`${path} has no third turn.`);
  const head = lines.slice(0, second);
  const block = JSON.stringify(lines.slice(second, third));
  const turnId = /"turn_id":"([^"]+)"/.exec(block)?.[1] ?? '';
  const repeated = Array.from({ length: turns - 1 }, (_, turn) => {
    const renamed = block
      .replaceAll(turnId, randomUUID())
      .replace(/"(msg_|retained_)[0-9a-f-]{10,}"/g, (_match, kind) => `"${kind}${randomUUID()}"`)
      .replace(
        /"(history_sequence|sampled_through_sequence|user_input_order)":(\d+)/g,
        (_match, name, count) => `"${name}":${Number(count) + 2 * turn}`,
      );
    return JSON.parse(renamed) as Line[];
  });
  const all = [...head, ...repeated.flat()];
  await writeLines(
    path,
    all.map((line, ordinal) => ('ordinal' in line ? { ...line, ordinal } : line)),
  );
}

function renamePrompt(line: Line, turn: number): Line {
  if (!isTyped(line)) return {};
  const text = `Turn ${turn}: look at module ${turn % 97} and tell in a sentence or two what it does.`;
  const message = { ...(line['message'] as object), content: text };
  return { message, promptId: randomUUID() };
}

function isTyped({ type, message }: Line): boolean {
  const content = (message as { content?: unknown } | undefined)?.content;
  return type === 'user' && JSON.stringify(content ?? '').includes('PING-');
}

function isTaskStart({ payload }: Line): boolean {
  return (payload as { type?: unknown } | undefined)?.type === 'task_started';
}

async function readLines(path: string): Promise<Line[]> {
  const text = await readFile(path, 'utf8');
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
}

async function writeLines(path: string, lines: readonly Line[]): Promise<void> {
  await writeFile(path, `${lines.map((line) => JSON.stringify(line)).join('\n')}\n`);
}

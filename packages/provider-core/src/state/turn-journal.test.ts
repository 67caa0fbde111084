import { appendFile, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type JournalEntry, openTurnJournal } from './turn-journal.js';

const at = '2026-01-01T00:00:00.000Z';

const error = {
  family: 'turn',
  kind: 'rate_limited',
  name: 'RateLimitedError',
  message: 'Too much.',
  facts: { resetAt: at },
};

const every: readonly JournalEntry[] = [
  { step: 'prepared', turnId: 't1', messageDigest: 'd1', attempt: 1, at },
  { step: 'prepared', turnId: 't1', messageDigest: 'd1', attempt: 2, parentTurnId: 't0', at },
  { step: 'submitting', attempt: 2, cursor: { length: 0 }, at },
  {
    step: 'submitting',
    attempt: 2,
    cursor: { path: '/a/b.jsonl', fileId: '1:2', length: 77, lastRecordId: 'r9' },
    at,
  },
  { step: 'accepted', at },
  { step: 'accepted', at, nativeTurnId: 'n1' },
  { step: 'parked', at, error },
  { step: 'nudged', at, childTurnId: 't2' },
  { step: 'ended', at, outcome: { status: 'interrupted', error } },
  { step: 'ended', at, outcome: { status: 'undeliverable', error } },
  {
    step: 'ended',
    at,
    outcome: {
      status: 'completed',
      result: {
        answer: 'a\u2028b 🦔',
        stopReason: 'end_turn',
        usage: { inputTokens: 1, outputTokens: 2, cacheReadTokens: 3, cacheWriteTokens: 4 },
      },
    },
  },
  { step: 'ended', at, outcome: { status: 'completed', result: { answer: '', stopReason: '' } } },
];

async function journalPath(): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'holdfast-'));
  onTestFinished(() => rm(dir, { recursive: true, force: true }));
  return join(dir, 't1.journal.jsonl');
}

async function writeAll(path: string, entries: readonly JournalEntry[]): Promise<void> {
  const journal = await openTurnJournal(path);
  for (const entry of entries) await journal.append(entry, { sync: false });
}

describe('openTurnJournal', () => {
  it('has no entries for a turn that was never written', async () => {
    const path = await journalPath();
    expect((await openTurnJournal(path)).entries).toEqual([]);
    expect(await readdir(join(path, '..'))).toEqual([]);
  });

  it('gives back every kind of step as it was written, an empty answer too', async () => {
    const path = await journalPath();
    await writeAll(path, every);
    expect((await openTurnJournal(path)).entries).toEqual(every);
  });

  it('is spelled in snake_case on disk', async () => {
    const path = await journalPath();
    await writeAll(path, every);
    expect(await readFile(path, 'utf8')).not.toMatch(/"(?!resetAt)[a-z]+[A-Z]\w*":/);
  });

  it('shows what was appended, in order, even when nobody waits in between', async () => {
    const path = await journalPath();
    const journal = await openTurnJournal(path);
    await Promise.all(every.map((entry) => journal.append(entry, { sync: true })));
    expect(journal.entries).toEqual(every);
    expect((await openTurnJournal(path)).entries).toEqual(every);
  });

  it.each([1, 20, 60])(
    'takes a line torn after %i bytes for unwritten, before and after the next append',
    async (bytes) => {
      const path = await journalPath();
      await writeAll(path, every.slice(0, 1));
      const whole = await readFile(path);
      await appendFile(path, whole.subarray(0, bytes));
      const journal = await openTurnJournal(path);
      expect(journal.entries).toEqual(every.slice(0, 1));
      await journal.append({ step: 'accepted', at }, { sync: true });
      const expected = [...every.slice(0, 1), { step: 'accepted', at }];
      expect((await openTurnJournal(path)).entries).toEqual(expected);
    },
  );

  it('takes a line without its line end for unwritten, although it is whole', async () => {
    const path = await journalPath();
    await writeAll(path, every.slice(0, 2));
    await writeFile(path, (await readFile(path, 'utf8')).trimEnd());
    const journal = await openTurnJournal(path);
    expect(journal.entries).toEqual(every.slice(0, 1));
    await journal.append({ step: 'accepted', at }, { sync: false });
    expect((await openTurnJournal(path)).entries).toHaveLength(2);
  });

  it('takes a hole of NUL bytes at the end for unwritten', async () => {
    const path = await journalPath();
    await writeAll(path, every.slice(0, 1));
    await appendFile(path, '\0'.repeat(100));
    const journal = await openTurnJournal(path);
    await journal.append({ step: 'accepted', at }, { sync: true });
    expect((await openTurnJournal(path)).entries).toHaveLength(2);
  });

  it.each(['garbage\n', '{"step":"accepted"}\n', '\0\0\n', '{"step":"ended","at":"x"}\n'])(
    'moves a journal with %j in its middle aside, and never takes the turn for a new one',
    async (line) => {
      const path = await journalPath();
      await writeAll(path, every.slice(0, 1));
      await appendFile(path, line);
      const damage = { kind: 'state_unusable', reason: 'damaged', path };
      await expect(openTurnJournal(path)).rejects.toMatchObject(damage);
      await expect(openTurnJournal(path)).rejects.toMatchObject(damage);
      expect(await readFile(`${path}.damaged-1`, 'utf8')).toContain(line);
    },
  );

  it('touches nothing when a newer version has written a step', async () => {
    const path = await journalPath();
    await writeAll(path, every.slice(0, 1));
    await appendFile(path, '{"step":"paused","at":"x"}\n');
    const before = await readFile(path);
    await expect(openTurnJournal(path)).rejects.toMatchObject({ reason: 'newer_format' });
    expect(await readFile(path)).toEqual(before);
  });

  it('reads entries with keys of a newer version', async () => {
    const path = await journalPath();
    await writeFile(path, `{"step":"accepted","at":"${at}","later":1}\n`);
    expect((await openTurnJournal(path)).entries).toEqual([{ step: 'accepted', at }]);
  });

  it('B44: does not count a step that the disk did not take', async () => {
    const path = await journalPath();
    const journal = await openTurnJournal(path);
    await symlink('/dev/full', path);
    const written = journal.append({ step: 'accepted', at }, { sync: true });
    await expect(written).rejects.toMatchObject({ kind: 'state_unusable', reason: 'full' });
    expect(journal.entries).toEqual([]);
    await rm(path);
    await journal.append({ step: 'accepted', at }, { sync: true });
    expect(journal.entries).toHaveLength(1);
  });
});

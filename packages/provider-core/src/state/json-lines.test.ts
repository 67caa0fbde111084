import { appendFile, mkdtemp, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it, onTestFinished } from 'vitest';
import { appendJsonLine, JsonLineReader, type JsonLines, readJsonLines } from './json-lines.js';

async function temporaryDir(): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'holdfast-'));
  onTestFinished(() => rm(dir, { recursive: true, force: true }));
  return dir;
}

async function read(path: string, fromByte?: number): Promise<JsonLines> {
  const found = await readJsonLines(path, fromByte === undefined ? {} : { fromByte });
  if (found === 'absent') throw new TypeError('the file is absent');
  return found;
}

function pushAll(bytes: Uint8Array, chunkSize: number): unknown[] {
  const reader = new JsonLineReader();
  const values: unknown[] = [];
  for (let start = 0; start < bytes.length; start += chunkSize) {
    for (const { value } of reader.push(bytes.subarray(start, start + chunkSize))) {
      values.push(value);
    }
  }
  return values;
}

describe('JsonLineReader', () => {
  it('B40: reads characters that are cut between chunks', () => {
    const records = [{ text: 'häßlich 漢字 🦔' }, { text: '🦔🦔' }];
    const bytes = Buffer.from(records.map((record) => `${JSON.stringify(record)}\n`).join(''));
    for (const size of [1, 2, 3, 5, bytes.length]) expect(pushAll(bytes, size)).toEqual(records);
  });

  it('B39: splits at 0x0A alone, not at U+2028, U+2029, U+0085 or a lone CR', () => {
    const text = 'a\u2028b\u2029c\u0085d';
    expect(pushAll(Buffer.from(`{"text":"${text}"}\r\n{"n":2}\r\n`), 1)).toEqual([
      { text },
      { n: 2 },
    ]);
  });

  it('B37: keeps half a line until its rest comes, and does not count it as read', () => {
    const reader = new JsonLineReader(100);
    expect(reader.push(Buffer.from('{"a":1}\n{"b"'))).toEqual([
      { value: { a: 1 }, offset: 100, length: 7 },
    ]);
    expect(reader.endOffset).toBe(108);
    expect(reader.tornTail).toBe(true);
    expect(reader.push(Buffer.from(':2}\n'))).toEqual([
      { value: { b: 2 }, offset: 108, length: 7 },
    ]);
    expect(reader.tornTail).toBe(false);
  });

  it('does not change what waits when the caller fills its buffer again', () => {
    const reader = new JsonLineReader();
    const buffer = Buffer.from('{"a"');
    reader.push(buffer);
    buffer.fill(0x78);
    expect(reader.push(Buffer.from(':1}\n'))).toMatchObject([{ value: { a: 1 } }]);
  });

  it('B35: goes past lines that are no JSON and tells where they stand', () => {
    const bytes = Buffer.from('{"a":1}\n\0\0\0\0\nnonsense\n\n{"b":2}\n');
    expect(new JsonLineReader().push(bytes)).toEqual([
      { value: { a: 1 }, offset: 0, length: 7 },
      { value: undefined, offset: 8, length: 4 },
      { value: undefined, offset: 13, length: 8 },
      { value: { b: 2 }, offset: 23, length: 7 },
    ]);
  });

  it('B35: finds the record that follows a hole of NUL bytes on the same line', () => {
    expect(pushAll(Buffer.from('\0\0\0{"a":1}\n'), 64)).toEqual([{ a: 1 }]);
  });

  it('gives what was written back for any values and any chunks', () => {
    fc.assert(
      fc.property(fc.array(fc.jsonValue()), fc.integer({ min: 1, max: 40 }), (values, size) => {
        const text = values.map((value) => `${JSON.stringify(value)}\n`).join('');
        const expected: unknown = values.map((value) => JSON.parse(JSON.stringify(value)));
        expect(pushAll(Buffer.from(text), size)).toEqual(expected);
      }),
    );
  });
});

describe('readJsonLines', () => {
  it('tells an absent file from an empty one', async () => {
    const path = join(await temporaryDir(), 'log.jsonl');
    expect(await readJsonLines(path)).toBe('absent');
    await writeFile(path, '');
    expect(await read(path)).toMatchObject({ lines: [], endOffset: 0, tornTail: false, size: 0 });
  });

  it('takes what it cannot read for unknown', async () => {
    await expect(readJsonLines(await temporaryDir())).rejects.toMatchObject({
      kind: 'state_unusable',
      reason: 'unreadable',
    });
  });

  it('reads on from where it ended, over a torn tail that was finished later', async () => {
    const path = join(await temporaryDir(), 'log.jsonl');
    await writeFile(path, '{"a":1}\n{"b"');
    const first = await read(path);
    expect(first).toMatchObject({ endOffset: 8, tornTail: true, size: 12 });
    await appendFile(path, ':2}\n');
    const second = await read(path, first.endOffset);
    expect(second.lines).toEqual([{ value: { b: 2 }, offset: 8, length: 7 }]);
    expect(second.fileId).toBe(first.fileId);
  });

  it('reads 200,000 lines, each once and at its place', async () => {
    const path = join(await temporaryDir(), 'log.jsonl');
    const lines = Array.from({ length: 200_000 }, (_, index) => `{"n":${index},"t":"é🦔"}\n`);
    await writeFile(path, lines.join(''));
    const found = await read(path);
    expect(found.lines).toHaveLength(200_000);
    expect(found.lines.every(({ value }, index) => (value as { n: number }).n === index)).toBe(
      true,
    );
    expect(found.endOffset).toBe((await stat(path)).size);
    expect(found.lines.at(-1)?.offset).toBe(
      found.endOffset - Buffer.byteLength(lines.at(-1) ?? ''),
    );
  });
});

describe('appendJsonLine', () => {
  it('B44: begins a new line after a torn tail, so that only the torn line is lost', async () => {
    const path = join(await temporaryDir(), 'log.jsonl');
    await writeFile(path, '{"a":1}\n{"torn":');
    await appendJsonLine(path, { b: 2 }, { sync: true });
    expect((await read(path)).lines.map(({ value }) => value)).toEqual([
      { a: 1 },
      undefined,
      { b: 2 },
    ]);
  });

  it('B48: keeps the lines of many writers whole', async () => {
    const path = join(await temporaryDir(), 'deep', 'log.jsonl');
    const numbers = Array.from({ length: 200 }, (_, index) => index);
    await Promise.all(
      numbers.map((n) => appendJsonLine(path, { n, pad: 'x'.repeat(n * 20) }, { sync: false })),
    );
    const values = (await read(path)).lines.map(({ value }) => (value as { n: number }).n);
    expect(values.toSorted((one, other) => one - other)).toEqual(numbers);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
  });

  it('B44: tells a full disk as state_unusable full', async () => {
    const path = join(await temporaryDir(), 'log.jsonl');
    await symlink('/dev/full', path);
    await expect(appendJsonLine(path, { a: 1 }, { sync: true })).rejects.toMatchObject({
      kind: 'state_unusable',
      reason: 'full',
      path,
    });
  });

  it('writes a line without any raw line break in it', async () => {
    const path = join(await temporaryDir(), 'log.jsonl');
    await appendJsonLine(path, { text: 'a\nb\r\u2028c' }, { sync: false });
    expect((await readFile(path, 'utf8')).split('\n')).toHaveLength(2);
    expect((await read(path)).lines).toMatchObject([{ value: { text: 'a\nb\r\u2028c' } }]);
  });
});

import { appendFile, mkdir, mkdtemp, rename, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { waitUntil } from '../time/wait-until.js';
import { type FollowedLine, followJsonLines } from './follow-json-lines.js';
import { readJsonLines } from './json-lines.js';

async function temporaryDir(): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'holdfast-'));
  onTestFinished(() => rm(dir, { recursive: true, force: true }));
  return dir;
}

/** Follows until the test ends; `until` waits for so many lines and gives them. */
function follow(path: string, options: { fromByte?: number; fileId?: string } = {}) {
  const stop = new AbortController();
  const seen: FollowedLine[] = [];
  const running = (async () => {
    for await (const line of followJsonLines(path, { ...options, signal: stop.signal })) {
      seen.push(line);
    }
  })();
  const end = async () => {
    stop.abort();
    await running;
  };
  onTestFinished(end);
  const until = async (count: number) => {
    await waitUntil(() => seen.length >= count, { awaiting: `${count} lines`, deadlineMs: 10_000 });
    return seen.map((line) => (line.replaced ? 'replaced' : line.value));
  };
  return { until, end, seen };
}

describe('followJsonLines', () => {
  it('gives what stands there and then each appended line', async () => {
    const path = join(await temporaryDir(), 'log.jsonl');
    await writeFile(path, '{"n":1}\n');
    const { until } = follow(path);
    await until(1);
    await appendFile(path, '{"n":2}\n{"n":3}\n');
    expect(await until(3)).toEqual([{ n: 1 }, { n: 2 }, { n: 3 }]);
  });

  it('waits for a file, and a folder, that come later', async () => {
    const dir = await temporaryDir();
    const path = join(dir, 'late', 'log.jsonl');
    const { until } = follow(path);
    await mkdir(join(dir, 'late'));
    await appendFile(path, '{"n":1}\n');
    expect(await until(1)).toEqual([{ n: 1 }]);
    await appendFile(path, '{"n":2}\n');
    expect(await until(2)).toEqual([{ n: 1 }, { n: 2 }]);
  });

  it('B37: gives a record that is written in two halves once, when it is whole', async () => {
    const path = join(await temporaryDir(), 'log.jsonl');
    const bytes = Buffer.from('{"text":"🦔"}\n');
    await writeFile(path, '{"n":0}\n');
    const { until } = follow(path);
    await until(1);
    // Within the hedgehog's four bytes.
    await appendFile(path, bytes.subarray(0, 11));
    await appendFile(path, bytes.subarray(11));
    expect(await until(2)).toEqual([{ n: 0 }, { text: '🦔' }]);
  });

  it('B33: begins at the byte it is given, zero included', async () => {
    const path = join(await temporaryDir(), 'log.jsonl');
    await writeFile(path, '{"n":1}\n{"n":2}\n');
    expect(await follow(path, { fromByte: 8 }).until(1)).toEqual([{ n: 2 }]);
    expect(await follow(path, { fromByte: 0 }).until(2)).toEqual([{ n: 1 }, { n: 2 }]);
  });

  it('tells that the file was cut, and reads it from its start', async () => {
    const path = join(await temporaryDir(), 'log.jsonl');
    await writeFile(path, '{"n":1}\n{"n":2}\n');
    const { until } = follow(path);
    await until(2);
    await truncate(path, 0);
    await until(3);
    await appendFile(path, '{"n":3}\n');
    expect(await until(4)).toEqual([{ n: 1 }, { n: 2 }, 'replaced', { n: 3 }]);
  });

  it('tells that another file took its place, and reads that one', async () => {
    const dir = await temporaryDir();
    const path = join(dir, 'log.jsonl');
    await writeFile(path, '{"n":1}\n');
    const { until } = follow(path);
    await until(1);
    await writeFile(join(dir, 'next'), '{"n":2}\n{"n":3}\n');
    await rename(join(dir, 'next'), path);
    expect(await until(4)).toEqual([{ n: 1 }, 'replaced', { n: 2 }, { n: 3 }]);
    await appendFile(path, '{"n":4}\n');
    expect(await until(5)).toContainEqual({ n: 4 });
  });

  it('follows on after the whole folder was removed and made again', async () => {
    const dir = join(await temporaryDir(), 'folder');
    const path = join(dir, 'log.jsonl');
    await mkdir(dir);
    await writeFile(path, '{"n":1}\n');
    const { until } = follow(path);
    await until(1);
    await rm(dir, { recursive: true });
    await mkdir(dir);
    await writeFile(path, '{"n":2}\n');
    expect(await until(3)).toEqual([{ n: 1 }, 'replaced', { n: 2 }]);
    await appendFile(path, '{"n":3}\n');
    expect(await until(4)).toContainEqual({ n: 3 });
  });

  it('tells at once that the cursor belongs to another file', async () => {
    const path = join(await temporaryDir(), 'log.jsonl');
    await writeFile(path, '{"n":1}\n{"n":2}\n');
    expect(await follow(path, { fromByte: 8, fileId: '0:0' }).until(3)).toEqual([
      'replaced',
      { n: 1 },
      { n: 2 },
    ]);
    const read = await readJsonLines(path);
    const fileId = read === 'absent' ? '' : read.fileId;
    expect(await follow(path, { fromByte: 8, fileId }).until(1)).toEqual([{ n: 2 }]);
  });

  it('gives the last line of a burst', async () => {
    const path = join(await temporaryDir(), 'log.jsonl');
    const { until } = follow(path);
    for (let n = 0; n < 300; n++) await appendFile(path, `{"n":${n}}\n`);
    expect((await until(300)).at(-1)).toEqual({ n: 299 });
  });

  it('ends when the signal aborts, without an error', async () => {
    const path = join(await temporaryDir(), 'log.jsonl');
    const { end, seen } = follow(path);
    await end();
    await appendFile(path, '{"n":1}\n');
    expect(seen).toEqual([]);
  });
});

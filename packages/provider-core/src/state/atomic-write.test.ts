import { chmod, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it, onTestFinished } from 'vitest';
import { createFileAtomic, readJsonFile, writeFileAtomic } from './atomic-write.js';
import { setFaultHook } from './fault-point.js';

async function temporaryDir(): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'holdfast-'));
  onTestFinished(() => rm(dir, { recursive: true, force: true }));
  return dir;
}

afterEach(() => setFaultHook(undefined));

function failAt(step: string, code: string): void {
  setFaultHook((taken) => {
    if (taken === step) throw Object.assign(new Error(`${code}: planted`), { code });
  });
}

describe('writeFileAtomic', () => {
  it('replaces the content and leaves nothing beside it', async () => {
    const dir = await temporaryDir();
    const path = join(dir, 'record.json');
    await writeFileAtomic(path, 'one');
    await writeFileAtomic(path, 'two');
    expect(await readFile(path, 'utf8')).toBe('two');
    expect(await readdir(dir)).toEqual(['record.json']);
  });

  it('waits for the disk only where the file must survive a power cut', async () => {
    const path = join(await temporaryDir(), 'record.json');
    const steps: string[] = [];
    setFaultHook((step) => steps.push(step));
    await writeFileAtomic(path, 'kept', { durable: false });
    expect(await readFile(path, 'utf8')).toBe('kept');
    expect(steps.filter((step) => step.endsWith('synced'))).toEqual([]);
    await writeFileAtomic(path, 'durable');
    expect(steps.filter((step) => step.endsWith('synced'))).toHaveLength(2);
  });

  it('replaces nothing before what it is to wait for has come, and nothing at all when that fails', async () => {
    const path = join(await temporaryDir(), 'record.json');
    await writeFileAtomic(path, 'old');
    let come: () => void = () => {};
    const awaited = new Promise<void>((resolve) => {
      come = resolve;
    });
    const synced = new Promise<void>((resolve) => {
      setFaultHook((step) => {
        if (step === 'atomic-write:synced') resolve();
      });
    });
    const written = writeFileAtomic(path, 'new', { beforeInstall: () => awaited });
    await synced;
    expect(await readFile(path, 'utf8')).toBe('old');
    come();
    await written;
    expect(await readFile(path, 'utf8')).toBe('new');
    const fail = () => Promise.reject(new TypeError('planted'));
    const refused = writeFileAtomic(path, 'newer', { beforeInstall: fail });
    await expect(refused).rejects.toThrow('planted');
    expect(await readFile(path, 'utf8')).toBe('new');
  });

  it('makes files 0600 and folders 0700', async () => {
    const dir = await temporaryDir();
    const path = join(dir, 'a', 'b', 'record.json');
    await writeFileAtomic(path, 'secret');
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect((await stat(join(dir, 'a'))).mode & 0o777).toBe(0o700);
    expect((await stat(join(dir, 'a', 'b'))).mode & 0o777).toBe(0o700);
  });

  it.each([
    ['ENOSPC', 'full'],
    ['EDQUOT', 'full'],
    ['EROFS', 'read_only'],
    ['EACCES', 'read_only'],
    ['EIO', 'unreadable'],
  ])(
    'tells %s as state_unusable %s, naming the path, and keeps the old file',
    async (code, reason) => {
      const dir = await temporaryDir();
      const path = join(dir, 'record.json');
      await writeFileAtomic(path, 'old');
      failAt('atomic-write:written', code);
      await expect(writeFileAtomic(path, 'new')).rejects.toMatchObject({
        kind: 'state_unusable',
        path,
        reason,
      });
      expect(await readFile(path, 'utf8')).toBe('old');
      expect(await readdir(dir)).toEqual(['record.json']);
    },
  );

  it('B48: never installs a mix of two writers', async () => {
    const path = join(await temporaryDir(), 'record.json');
    const contents = Array.from({ length: 40 }, (_, index) => `${index} `.repeat(20_000));
    await Promise.all(contents.map((content) => writeFileAtomic(path, content)));
    expect(contents).toContain(await readFile(path, 'utf8'));
  });
});

describe('createFileAtomic', () => {
  it('writes for one of many writers, and leaves nothing of the others', async () => {
    const dir = await temporaryDir();
    const path = join(dir, 'record.json');
    const writers = Array.from({ length: 20 }, (_, index) => `${index}`);
    const won = await Promise.all(writers.map((content) => createFileAtomic(path, content)));
    expect(won.filter(Boolean)).toHaveLength(1);
    expect(await readFile(path, 'utf8')).toBe(`${won.indexOf(true)}`);
    expect(await readdir(dir)).toEqual(['record.json']);
  });

  it('changes nothing when it is stopped at the last moment', async () => {
    const dir = await temporaryDir();
    const beforeInstall = () => {
      throw new TypeError('stopped');
    };
    for (const write of [createFileAtomic, writeFileAtomic]) {
      await expect(write(join(dir, 'record.json'), '1', { beforeInstall })).rejects.toThrow(
        'stopped',
      );
    }
    expect(await readdir(dir)).toEqual([]);
  });
});

describe('a name as long as the file system takes it', () => {
  it('is written and moved aside, apart from one that is nearly the same', async () => {
    const dir = await temporaryDir();
    const paths = ['a', 'b'].map((end) => join(dir, `${'x'.repeat(254)}${end}`));
    for (const path of paths) await writeFileAtomic(path, 'no json');
    const found = await Promise.all(paths.map((path) => readJsonFile(path)));
    expect(found.map(({ state }) => state)).toEqual(['damaged', 'damaged']);
    expect(await readdir(dir)).toHaveLength(2);
    expect(await Promise.all(paths.map((path) => readJsonFile(path)))).toEqual(found);
  });
});

describe('readJsonFile', () => {
  it('tells present and absent apart', async () => {
    const path = join(await temporaryDir(), 'record.json');
    expect(await readJsonFile(path)).toEqual({ state: 'absent' });
    await writeFileAtomic(path, '{"a":1}');
    expect(await readJsonFile(path)).toEqual({ state: 'present', value: { a: 1 } });
  });

  it.each(['', '{"a":', '\0\0\0\0'])('B46: moves %j aside and keeps its bytes', async (content) => {
    const path = join(await temporaryDir(), 'record.json');
    await writeFile(path, content);
    expect(await readJsonFile(path)).toEqual({ state: 'damaged', movedTo: `${path}.damaged-1` });
    expect(await readFile(`${path}.damaged-1`, 'utf8')).toBe(content);
  });

  it('stays damaged until the file is written anew', async () => {
    const path = join(await temporaryDir(), 'record.json');
    await writeFile(path, 'no json');
    await readJsonFile(path);
    expect(await readJsonFile(path)).toMatchObject({ state: 'damaged' });
    await writeFileAtomic(path, '1');
    expect(await readJsonFile(path)).toEqual({ state: 'present', value: 1 });
  });

  it('gives each damaged copy a name of its own', async () => {
    const path = join(await temporaryDir(), 'record.json');
    await writeFile(path, 'first');
    await readJsonFile(path);
    await writeFile(path, 'second');
    expect(await readJsonFile(path)).toEqual({ state: 'damaged', movedTo: `${path}.damaged-2` });
    expect(await readFile(`${path}.damaged-1`, 'utf8')).toBe('first');
  });

  it('takes what it cannot read for unknown, not for absent', async () => {
    const dir = await temporaryDir();
    await expect(readJsonFile(dir)).rejects.toMatchObject({
      kind: 'state_unusable',
      reason: 'unreadable',
    });
    if (process.getuid?.() === 0) return;
    const path = join(dir, 'record.json');
    await writeFile(path, '1');
    await chmod(path, 0);
    await expect(readJsonFile(path)).rejects.toMatchObject({ reason: 'unreadable' });
  });
});

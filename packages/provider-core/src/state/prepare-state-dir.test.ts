import {
  chmod,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, describe, expect, it, onTestFinished } from 'vitest';
import { setFaultHook } from './fault-point.js';
import { prepareStateDir } from './prepare-state-dir.js';

async function temporaryDir(): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'holdfast-'));
  onTestFinished(() => rm(dir, { recursive: true, force: true }));
  return dir;
}

afterEach(() => setFaultHook(undefined));

describe('prepareStateDir', () => {
  it('makes private folders and the format file', async () => {
    const root = join(await temporaryDir(), 'a', 'state');
    const layout = await prepareStateDir(root);
    expect(await readFile(layout.format, 'utf8')).toBe('1\n');
    expect((await stat(layout.format)).mode & 0o777).toBe(0o600);
    for (const folder of [root, layout.startsDir, layout.sessionsDir, dirname(layout.tmuxSocket)]) {
      expect((await stat(folder)).mode & 0o777).toBe(0o700);
    }
  });

  it('gives two spellings of one folder the same socket', async () => {
    const dir = await temporaryDir();
    const root = join(dir, 'state');
    await mkdir(root);
    await symlink(root, join(dir, 'link'));
    const layout = await prepareStateDir(root);
    expect((await prepareStateDir(join(dir, 'link'))).tmuxSocket).toBe(layout.tmuxSocket);
    expect(await prepareStateDir(join(root, '..', 'state'))).toBe(layout);
  });

  it('refuses a newer format and touches nothing', async () => {
    const root = await temporaryDir();
    await writeFile(join(root, 'FORMAT'), '2\n');
    await expect(prepareStateDir(root)).rejects.toMatchObject({
      kind: 'state_unusable',
      reason: 'newer_format',
    });
    expect(await readdir(root)).toEqual(['FORMAT']);
    await writeFile(join(root, 'FORMAT'), '1.4\n');
    await expect(prepareStateDir(root)).resolves.toMatchObject({ root });
    expect(await readFile(join(root, 'FORMAT'), 'utf8')).toBe('1.4\n');
  });

  it('refuses a format file that holds no number', async () => {
    const root = await temporaryDir();
    await writeFile(join(root, 'FORMAT'), '');
    await expect(prepareStateDir(root)).rejects.toMatchObject({ reason: 'damaged' });
    expect(await readdir(root)).toEqual(['FORMAT']);
  });

  it('tells a full disk', async () => {
    const root = join(await temporaryDir(), 'state');
    setFaultHook((step) => {
      if (step === 'atomic-write:written')
        throw Object.assign(new Error('full'), { code: 'ENOSPC' });
    });
    await expect(prepareStateDir(root)).rejects.toMatchObject({ reason: 'full' });
    setFaultHook(undefined);
    await expect(prepareStateDir(root)).resolves.toBeDefined();
  });

  // Nobody, root included, may make a folder in /proc.
  it('tells a place where nothing can be made', async () => {
    await expect(prepareStateDir('/proc/self/holdfast')).rejects.toMatchObject({
      kind: 'state_unusable',
    });
  });

  it('does not put its socket into a folder that others may write', async () => {
    const root = await temporaryDir();
    await mkdir(join(root, 'run'));
    await chmod(join(root, 'run'), 0o777);
    await expect(prepareStateDir(root)).rejects.toMatchObject({ reason: 'unreadable' });
  });
});

import { chmod, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { digestOfText } from '../contract/canonical-json.js';
import { digestFile, findExecutable } from './find-executable.js';

async function place() {
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const [good, plain, inner] = ['good', 'plain', 'inner'].map((name) => join(folder, name));
  if (!good || !plain || !inner) throw new TypeError('three names make three paths');
  await writeFile(good, '#!/bin/sh\n', { mode: 0o700 });
  await writeFile(plain, '#!/bin/sh\n', { mode: 0o600 });
  await mkdir(inner, { mode: 0o700 });
  return { folder, good, plain, inner };
}

it('the CLI that a runner names is a file that can be run, and nothing else takes its place', async () => {
  const { folder, good, plain, inner } = await place();
  vi.stubEnv('PATH', folder);
  onTestFinished(() => void vi.unstubAllEnvs());
  expect(findExecutable('good', good)).toBe(good);
  for (const wrong of [plain, inner, join(folder, 'gone'), `${good}/`]) {
    expect(findExecutable('good', wrong), wrong).toBeUndefined();
  }
  const link = join(folder, 'link');
  await symlink(good, link);
  expect(findExecutable('good', link)).toBe(link);
});

it('a CLI that nobody names is the first that can be run in an absolute folder of PATH', async () => {
  const [one, two] = [await place(), await place()];
  await chmod(one.good, 0o600);
  vi.stubEnv('PATH', ['', '.', 'relative', one.folder, two.folder].join(delimiter));
  onTestFinished(() => void vi.unstubAllEnvs());
  expect(findExecutable('good')).toBe(two.good);
  expect(findExecutable('gone')).toBeUndefined();
});

it('the digest of a binary is that of its bytes, and another one once they change', async () => {
  const { good } = await place();
  expect(await digestFile(good)).toBe(digestOfText('#!/bin/sh\n'));
  await writeFile(good, '#!/bin/sh\n# another\n');
  expect(await digestFile(good)).toBe(digestOfText('#!/bin/sh\n# another\n'));
});

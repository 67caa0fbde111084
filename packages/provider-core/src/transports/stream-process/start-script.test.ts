import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { runProcess } from '../run-process.js';
import { START_SCRIPT } from './stream-files.js';

it('writes through no link that a CLI left where it is started', async () => {
  const root = await mkdtemp(join(tmpdir(), 'holdfast-'));
  onTestFinished(() => rm(root, { recursive: true, force: true }));
  const folder = join(root, 'stream');
  const kept = join(root, 'kept');
  await mkdir(folder);
  await writeFile(kept, 'as it was');
  const names = ['input', 'output.jsonl', 'errors.log', 'turn.json', 'process.tmp', 'process'];
  for (const name of names) await symlink(kept, join(folder, name));
  await runProcess({
    file: '/bin/sh',
    args: ['-c', START_SCRIPT, 'sh', folder, '/bin/echo', 'said'],
    env: { PATH: process.env['PATH'] ?? '' },
    workingDir: root,
  });
  expect(await readFile(join(folder, 'output.jsonl'), 'utf8')).toBe('said\n');
  expect(await readFile(kept, 'utf8')).toBe('as it was');
});

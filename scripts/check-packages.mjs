import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { tryInFreshProject } from './fresh-project.mjs';
import { pnpmCommand } from './install.mjs';
import { root, runCommand } from './run-command.mjs';

const work = mkdtempSync(join(tmpdir(), 'holdfast-packages-'));
try {
  const tarballs = await packAll();
  const judged = (await Promise.all(tarballs.map(judgeTarball))).flat();
  const isSound = judged.length === 0;
  const complaints = isSound ? await tryInFreshProject(join(work, 'project'), tarballs) : judged;
  for (const complaint of complaints) console.error(complaint);
  console.log(`${tarballs.length} packages, ${complaints.length} complaints`);
  process.exitCode = complaints.length > 0 ? 1 : 0;
} finally {
  rmSync(work, { recursive: true, force: true });
}

async function packAll() {
  for (const name of readdirSync(join(root, 'packages'))) {
    if (!existsSync(join(root, 'packages', name, 'dist')))
      throw new Error(`packages/${name} is not built.`);
  }
  const pack = pnpmCommand('-r', '--filter', './packages/*', 'pack', '--pack-destination', work);
  const { status, output } = await runCommand(pack);
  const tarballs = readdirSync(work).filter((name) => name.endsWith('.tgz'));
  if (status !== 0 || tarballs.length !== 3)
    throw new Error(`The packages were not packed.\n${output}`);
  return tarballs.map((name) => join(work, name));
}

/** publint and attw look at what would be uploaded, not at the folder it comes from. */
async function judgeTarball(tarball) {
  const bin = (name) => join(root, 'node_modules', '.bin', name);
  const commands = [
    [bin('publint'), tarball, '--strict'],
    [bin('attw'), tarball, '--profile', 'esm-only', '--no-emoji', '--no-color'],
  ];
  const outcomes = await Promise.all(commands.map((command) => runCommand(command)));
  return outcomes.flatMap(({ status, output }) => (status === 0 ? [] : [output.trim()]));
}

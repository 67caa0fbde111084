import { appendFile, chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Workspace } from '../workspace.js';

/** Everything in a configuration that starts a program. */
export function hostileConfig(program: string): string {
  return [
    '[core]',
    `\tfsmonitor = ${program}`,
    `\tsshCommand = ${program}`,
    `\thooksPath = ${program}-hooks`,
    '[filter "evil"]',
    ...[`\tclean = ${program}`, `\tsmudge = ${program}`, '\trequired = true'],
    '[diff]',
    `\texternal = ${program}`,
    '[diff "evil"]',
    ...[`\tcommand = ${program}`, `\ttextconv = ${program}`],
    '',
  ].join('\n');
}

/** A program that leaves a mark. */
export async function plantProgram(folder: string): Promise<{ program: string; marker: string }> {
  const marker = join(folder, 'marker');
  const program = join(folder, 'program');
  await writeFile(program, `#!/bin/sh\necho ran >> '${marker}'\ncat\n`);
  await chmod(program, 0o755);
  await mkdir(`${program}-hooks`, { recursive: true });
  for (const hook of ['post-checkout', 'post-index-change', 'reference-transaction']) {
    await writeFile(join(`${program}-hooks`, hook), `#!/bin/sh\necho ran >> '${marker}'\n`);
    await chmod(join(`${program}-hooks`, hook), 0o755);
  }
  return { program, marker };
}

/** What a job does that nothing confines: it writes into the git dir. */
export async function poison({ gitDir }: Workspace, program: string): Promise<void> {
  await writeFile(join(gitDir, 'included'), hostileConfig(program));
  await appendFile(
    join(gitDir, 'config'),
    `${hostileConfig(program)}[include]\n\tpath = included\n[extensions]\n\tworktreeConfig = true\n`,
  );
  await writeFile(join(gitDir, 'config.worktree'), hostileConfig(program));
  await writeFile(join(gitDir, 'info', 'attributes'), '* filter=evil diff=evil\n');
}

const EMPTY_TREE = '4b825dc642cb6eb9a060e54bf8d69288fbee4904';

/** All else in a git dir that could give what is stored another meaning, or stop whoever reads it. */
export async function spoil(workspace: Workspace, program: string): Promise<void> {
  const { gitDir, baseTree, baseRevision } = workspace;
  await poison(workspace, program);
  await appendFile(
    join(gitDir, 'config'),
    '[core]\n\tautocrlf = true\n\tfilemode = false\n\tsymlinks = false\n\tignorecase = true\n' +
      '[diff]\n\tnoprefix = true\n\trenames = copies\n\talgorithm = patience\n\tcontext = 9\n' +
      '[apply]\n\twhitespace = fix\n\tignorewhitespace = change\n',
  );
  await mkdir(join(gitDir, 'refs', 'replace'), { recursive: true });
  await writeFile(join(gitDir, 'refs', 'replace', baseTree), `${EMPTY_TREE}\n`);
  await mkdir(join(gitDir, 'refs', 'heads'), { recursive: true });
  await writeFile(join(gitDir, 'refs', 'heads', baseTree), 'garbage\n');
  await mkdir(join(gitDir, 'objects', 'info'), { recursive: true });
  await writeFile(join(gitDir, 'objects', 'info', 'alternates'), '/dev/null/none\n');
  await writeFile(join(gitDir, 'info', 'grafts'), `${baseRevision} ${'1'.repeat(40)}\n`);
  await writeFile(join(gitDir, 'info', 'exclude'), '*\n');
  for (const name of ['packed-refs', 'shallow', 'HEAD', 'commondir', 'index', 'index.lock']) {
    await writeFile(join(gitDir, name), 'garbage\n');
  }
  await mkdir(join(gitDir, 'hooks'), { recursive: true });
  await writeFile(join(gitDir, 'hooks', 'post-index-change'), `#!/bin/sh\n${program}\n`, {
    mode: 0o755,
  });
}

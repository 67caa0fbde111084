import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { readClosingLine } from './count-tests.mjs';
import { installDependencies, pnpmCommand } from './install.mjs';
import { findMissingPrerequisites } from './prerequisites.mjs';
import { root } from './run-command.mjs';

/** `npm test`: from a bare clone to one closing line, `N passed, N failed`, with nothing printed after it. */
try {
  const missing = findMissingPrerequisites();
  if (missing.length > 0) throw new Error(missing.join('\n'));
  await installDependencies({ onProgress: console.log });
  await runCheck(process.argv.slice(2));
} catch (error) {
  console.log(`${error.message}\n0 passed, 1 failed`);
  process.exitCode = 1;
}

async function runCheck(args) {
  const [command, ...rest] = pnpmCommand('run', 'check', ...args);
  const check = spawn(command, rest, { cwd: root, stdio: ['ignore', 'pipe', 'inherit'] });
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => check.kill(signal));

  // pnpm adds lines of its own after a failure, so the closing line is held back and printed last.
  let closing;
  for await (const line of createInterface({ input: check.stdout })) {
    if (readClosingLine(line)) closing = line;
    else console.log(line);
  }
  const status = check.exitCode ?? (await new Promise((resolve) => check.on('close', resolve)));
  console.log(closing ?? '0 passed, 1 failed');
  process.exitCode = closing === undefined ? 1 : (status ?? 1);
}

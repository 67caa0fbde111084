import { execFileSync } from 'node:child_process';

const OLDEST_NODE = [20, 19, 0];
const OLDEST_TMUX = [3, 2];

/** One sentence for each thing this machine lacks, saying what to do; an empty list when all is there. */
export function findMissingPrerequisites(
  probe = readVersionOutput,
  nodeVersion = process.versions.node,
) {
  return [checkNode(nodeVersion), checkGit(probe), checkTmux(probe)].filter(Boolean);
}

/** Ends the process with status 1 when something is missing. Called first, so that nothing is fetched in vain. */
export function requirePrerequisites() {
  const missing = findMissingPrerequisites();
  if (missing.length === 0) return;
  for (const sentence of missing) process.stderr.write(`${sentence}\n`);
  process.exit(1);
}

function checkNode(version) {
  if (isAtLeast(readNumbers(version), OLDEST_NODE)) return undefined;
  return `Node ${version} is too old: install Node ${OLDEST_NODE.join('.')} or newer, for instance from nodejs.org.`;
}

function checkGit(probe) {
  if (probe('git', ['--version']) !== undefined) return undefined;
  return `git was not found: install it with ${installHint('git')}.`;
}

function checkTmux(probe) {
  const output = probe('tmux', ['-V']);
  const hint = installHint('tmux');
  if (output === undefined) {
    return `tmux was not found: install tmux ${OLDEST_TMUX.join('.')} or newer with ${hint}.`;
  }
  // A development build says "tmux next-3.4" or "tmux master": only a readable, smaller number is too old.
  const version = readNumbers(output);
  if (version.length === 0 || isAtLeast(version, OLDEST_TMUX)) return undefined;
  return `${output.trim()} is too old: install tmux ${OLDEST_TMUX.join('.')} or newer with ${hint}.`;
}

function installHint(name) {
  return process.platform === 'darwin' ? `"brew install ${name}"` : `"apt-get install ${name}"`;
}

function readVersionOutput(command, args) {
  try {
    return execFileSync(command, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
  } catch {
    return undefined;
  }
}

function readNumbers(text) {
  return (/\d+(?:\.\d+)*/.exec(text)?.[0] ?? '').split('.').filter(Boolean).map(Number);
}

function isAtLeast(version, oldest) {
  for (const [index, wanted] of oldest.entries()) {
    const found = version[index] ?? 0;
    if (found !== wanted) return found > wanted;
  }
  return true;
}

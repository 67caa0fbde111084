import { isAbsolute, join } from 'node:path';
import { type ProcessBytes, runProcessForBytes } from '@holdfast/agent';
import { CodingThreadError, type CodingThreadErrorKind } from '../coding-thread-error.js';

/** What a git command works on. Git looks for nothing itself. */
export interface GitPlace {
  readonly gitDir: string;
  readonly workTree?: string | undefined;
  /** None when absent, not even the git dir's own: whoever worked there could have written it. */
  readonly indexFile?: string | undefined;
}

/** One git command. */
export interface GitCommand {
  readonly args: readonly string[];
  readonly place: GitPlace;
  readonly input?: string | Uint8Array | undefined;
  /** Of its output; 64 MiB when absent. */
  readonly maxOutputBytes?: number | undefined;
  /** What a failure of it is; `workspace_refused` when absent. */
  readonly failure?: CodingThreadErrorKind | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** A git that reads no configuration but what stands here, and starts nothing that a repository names. */
export interface Git {
  /** Its output; any other end than success is a `CodingThreadError`. */
  readonly run: (command: GitCommand) => Promise<Buffer>;
  /** How it ended, for what may fail. */
  readonly attempt: (command: GitCommand) => Promise<ProcessBytes>;
}

const DEFAULT_MAX_OUTPUT_BYTES = 64 * 1024 * 1024;
const DEFAULT_TIMEOUT_MS = 300_000;

/** A path at which nothing stands and nobody can put anything. */
const NOWHERE = '/dev/null/nowhere';

/** Nothing of this name stands in a git dir that is sealed. */
const NO_INDEX = 'no-index';

const ENVIRONMENT = {
  PATH: '/usr/bin:/bin',
  HOME: NOWHERE,
  XDG_CONFIG_HOME: NOWHERE,
  LC_ALL: 'C',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_SYSTEM: '/dev/null',
  GIT_ATTR_NOSYSTEM: '1',
  GIT_NO_REPLACE_OBJECTS: '1',
  GIT_GRAFT_FILE: '/dev/null',
  GIT_NO_LAZY_FETCH: '1',
  GIT_OPTIONAL_LOCKS: '0',
  GIT_TERMINAL_PROMPT: '0',
  GIT_ALLOW_PROTOCOL: 'none',
} as const;

/** Given on the command line, where they win over every file. */
const SETTINGS = [
  'core.hooksPath=/dev/null',
  'core.fsmonitor=false',
  'core.untrackedCache=false',
  'core.attributesFile=/dev/null',
  'core.excludesFile=/dev/null',
  'core.bare=false',
  'core.fileMode=true',
  'core.symlinks=true',
  'core.ignoreCase=false',
  'core.precomposeUnicode=false',
  'core.autocrlf=false',
  'core.safecrlf=false',
  'core.quotePath=true',
  'core.protectHFS=true',
  'core.protectNTFS=true',
  'core.sparseCheckout=false',
  'core.splitIndex=false',
  'core.commitGraph=false',
  'gc.auto=0',
  'maintenance.auto=false',
  'protocol.allow=never',
  'submodule.recurse=false',
  'diff.ignoreSubmodules=none',
  'diff.indentHeuristic=true',
].flatMap((setting) => ['-c', setting]);

/** Makes a git of the program at an absolute path. */
export function createGit({ file }: { readonly file: string }): Git {
  if (!isAbsolute(file)) throw new TypeError(`${file} is no absolute path of git.`);
  const attempt = ({ args, place, input, maxOutputBytes, signal }: GitCommand) =>
    runProcessForBytes({
      file,
      args: ['--no-pager', '--literal-pathspecs', ...SETTINGS, ...placeArgs(place), ...args],
      env: { ...ENVIRONMENT, GIT_INDEX_FILE: place.indexFile ?? join(place.gitDir, NO_INDEX) },
      workingDir: place.workTree ?? place.gitDir,
      input,
      timeoutMs: DEFAULT_TIMEOUT_MS,
      maxOutputBytes: maxOutputBytes ?? DEFAULT_MAX_OUTPUT_BYTES,
      signal,
    });
  return {
    attempt,
    run: async (command) => {
      const result = await attempt(command);
      if (hasSucceeded(result)) return Buffer.from(result.stdout);
      throw gitFailed(command, result);
    },
  };
}

/** Whether a command ran to its end, said all it had to say, and failed at nothing. */
export function hasSucceeded({ outcome, exitCode, truncated }: ProcessBytes): boolean {
  return outcome === 'exited' && exitCode === 0 && !truncated;
}

function placeArgs({ gitDir, workTree }: GitPlace): readonly string[] {
  return [`--git-dir=${gitDir}`, ...(workTree === undefined ? [] : [`--work-tree=${workTree}`])];
}

function gitFailed({ args, failure }: GitCommand, result: ProcessBytes): CodingThreadError {
  const [name = ''] = args;
  const { outcome, exitCode = null, reason = null, truncated, stderr } = result;
  const said = stderr.slice(0, 2000);
  return new CodingThreadError(
    failure ?? 'workspace_refused',
    truncated
      ? `git ${name} said more than is taken.`
      : `git ${name} failed: ${said.trim() || (reason ?? exitCode)}`,
    { evidence: { command: name, outcome, exitCode, reason, truncated, stderr: said } },
  );
}

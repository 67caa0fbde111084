import { readdir, readFile, readlink } from 'node:fs/promises';
import type { ProcessSight } from '@holdfast/provider-core/certification';
import { waitFor } from './wait-for.js';

/** A process as `/proc` shows it. */
export interface SeenProcess extends ProcessSight {
  readonly parent: number;
  readonly environ: string;
  readonly workingDir: string;
}

/** Every living process that fits. One that has ended and waits to be reaped is dead. */
export async function findProcesses(
  fits: (process: SeenProcess) => boolean,
): Promise<readonly SeenProcess[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number);
  const seen = await Promise.all(pids.map(findProcess));
  return seen.filter((process) => process !== undefined).filter(fits);
}

/** Every process that has this text in its environment, its command or its folder. */
export function findProcessesOf(root: string): Promise<readonly SeenProcess[]> {
  return findProcesses(
    ({ pid, environ, command, workingDir }) =>
      pid !== process.pid &&
      (environ.includes(root) || command.includes(root) || workingDir.startsWith(root)),
  );
}

/** Every process that was started with this nonce. */
export function findProcessesByNonce(nonce: string): Promise<readonly SeenProcess[]> {
  return findProcesses(({ environ }) => environ.includes(`HOLDFAST_NONCE=${nonce}\0`));
}

/** SIGKILL to each, by pid and start time, until all of them and whatever they have started since are dead. */
export async function killUntilGone(find: () => Promise<readonly ProcessSight[]>): Promise<number> {
  const killed = new Set<string>();
  await waitFor(
    'the death of every process that was killed',
    async () => {
      const left = await find();
      for (const process of left) await killProcess(process, killed);
      return left.length === 0;
    },
    { deadlineMs: 60_000 },
  );
  return killed.size;
}

/** SIGKILL to exactly this process; another one that got its pid is left alone. */
export async function killProcess(
  { pid, startTime }: ProcessSight,
  killed: Set<string> = new Set(),
): Promise<void> {
  const now = await findProcess(pid);
  if (now?.startTime !== startTime) return;
  try {
    process.kill(pid, 'SIGKILL');
    killed.add(`${pid}:${startTime}`);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
  }
}

/** The process behind a pid, if it lives. */
export async function findProcess(pid: number): Promise<SeenProcess | undefined> {
  try {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
    // The name in parentheses may hold anything; the fields after it are plain.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const [state, parent, startTime] = [fields[0], fields[1], fields[19]];
    if (state === 'Z' || state === 'X' || startTime === undefined) return undefined;
    const [environ, command, workingDir] = await Promise.all([
      readFile(`/proc/${pid}/environ`, 'utf8').catch(() => ''),
      readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => ''),
      readlink(`/proc/${pid}/cwd`).catch(() => ''),
    ]);
    return {
      pid,
      parent: Number(parent),
      startTime,
      environ,
      command: command.replaceAll('\0', ' ').trim(),
      workingDir,
    };
  } catch {
    return undefined;
  }
}

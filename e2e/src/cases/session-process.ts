import type { HandleJson } from '@holdfast/provider-core/certification';
import {
  findProcess,
  findProcesses,
  killUntilGone,
  type SeenProcess,
} from '../harness/processes.js';
import type { RealSubject } from '../harness/real-subject.js';
import type { CliInWay } from './known-case.js';

/** The process that does a session's work, in a pane or not; not one that only shows a session. */
export async function findWorkingProcess(
  subject: RealSubject,
  { binary }: CliInWay,
): Promise<SeenProcess> {
  const [found] = await findProcesses(
    ({ command, environ }) =>
      command.startsWith(`${binary} `) &&
      !command.includes(' --remote ') &&
      environ.includes(subject.place.root),
  );
  if (!found) throw new Error('The session has no process.');
  return found;
}

/** SIGKILL to that process alone, proven dead. */
export async function killWorkingProcess(subject: RealSubject, cli: CliInWay): Promise<void> {
  const { pid, startTime } = await findWorkingProcess(subject, cli);
  await killUntilGone(async () => {
    const now = await findProcess(pid);
    return now?.startTime === startTime ? [now] : [];
  });
}

/** What stands still. */
export interface Frozen {
  readonly thaw: () => Promise<void>;
}

/**
 * Stops what an interrupt would have to go through: the process that works, or the tmux around a CLI that is typed into.
 * That CLI alone cannot be stopped, since tmux makes a stopped child go on.
 */
export async function freeze(subject: RealSubject, cli: CliInWay): Promise<Frozen> {
  const isTyped = cli.way === 'tmux' && cli.provider === 'claude-code';
  const { pid, startTime } = isTyped
    ? await findTmux(subject)
    : await findWorkingProcess(subject, cli);
  process.kill(pid, 'SIGSTOP');
  return {
    thaw: async () => {
      const now = await findProcess(pid);
      if (now?.startTime === startTime) process.kill(pid, 'SIGCONT');
    },
  };
}

async function findTmux({ tmux }: RealSubject): Promise<SeenProcess> {
  const found = await findProcess(Number(await tmux.run('display-message', '-p', '#{pid}')));
  if (!found) throw new Error('There is no tmux server.');
  return found;
}

/** The name of the session's tmux session. */
export function tmuxSessionOf(subject: RealSubject, handle: HandleJson): string {
  return String(subject.providerFields(handle)['tmux_session']);
}

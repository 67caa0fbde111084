import type { HandleJson } from '@holdfast/provider-core/certification';
import {
  findProcess,
  findProcesses,
  killUntilGone,
  type SeenProcess,
} from '../harness/processes.js';
import type { RealSubject } from '../harness/real-subject.js';

/** The process that does a session's work: the CLI in its pane, or the server that holds the session. */
export async function findWorkingProcess(
  subject: RealSubject,
  handle: HandleJson,
): Promise<SeenProcess> {
  const servers = await findSessionServers(subject);
  const found = servers[0] ?? (await findProcess(await readPanePid(subject, handle)));
  if (!found) throw new Error('The session has no process.');
  return found;
}

/** SIGKILL to that process alone, proven dead. */
export async function killWorkingProcess(subject: RealSubject, handle: HandleJson): Promise<void> {
  const { pid, startTime } = await findWorkingProcess(subject, handle);
  await killUntilGone(async () => {
    const now = await findProcess(pid);
    return now?.startTime === startTime ? [now] : [];
  });
}

/**
 * Stops what an interrupt would have to go through, until it is disposed of: the server that holds the session, else the
 * tmux that holds its pane. A CLI alone cannot be stopped there, since tmux makes a stopped child go on.
 */
export async function freeze(subject: RealSubject, handle: HandleJson): Promise<Frozen> {
  const servers = await findSessionServers(subject);
  const tmuxPid = () => subject.tmux.run('display-message', '-p', '#{pid}');
  const found = servers[0] ?? (await findProcess(Number(await tmuxPid())));
  if (!found) throw new Error(`Nothing holds ${tmuxSessionOf(subject, handle)}.`);
  process.kill(found.pid, 'SIGSTOP');
  return {
    thaw: async () => {
      const now = await findProcess(found.pid);
      if (now?.startTime === found.startTime) process.kill(found.pid, 'SIGCONT');
    },
  };
}

/** What stands still. */
export interface Frozen {
  readonly thaw: () => Promise<void>;
}

function findSessionServers(subject: RealSubject): Promise<readonly SeenProcess[]> {
  return findProcesses(
    ({ command, environ }) =>
      // Not the script that watches over it, which has its command line as arguments.
      /^\S+ app-server /.test(command) && environ.includes(subject.place.root),
  );
}

/** The name of the session's tmux session. */
export function tmuxSessionOf(subject: RealSubject, handle: HandleJson): string {
  return String(subject.providerFields(handle)['tmux_session']);
}

async function readPanePid(subject: RealSubject, handle: HandleJson): Promise<number> {
  const pane = `=${tmuxSessionOf(subject, handle)}:`;
  return Number(await subject.tmux.run('display-message', '-p', '-t', pane, '#{pane_pid}'));
}

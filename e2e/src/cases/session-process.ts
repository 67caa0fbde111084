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
  const servers = await findProcesses(
    ({ command, environ }) =>
      command.includes(' app-server') && environ.includes(subject.place.root),
  );
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

/** The name of the session's tmux session. */
export function tmuxSessionOf(subject: RealSubject, handle: HandleJson): string {
  return String(subject.providerFields(handle)['tmux_session']);
}

async function readPanePid(subject: RealSubject, handle: HandleJson): Promise<number> {
  const pane = `=${tmuxSessionOf(subject, handle)}:`;
  return Number(await subject.tmux.run('display-message', '-p', '-t', pane, '#{pane_pid}'));
}

import { spawn } from 'node:child_process';
import type { ProcessSight } from '@holdfast/provider-core/certification';
import type { Place } from './place.js';
import { findProcess } from './processes.js';
import type { TmuxDoor } from './tmux.js';
import { waitFor } from './wait-for.js';

/** A process in the case's folder that is nobody's session: in a pane of the case's own tmux server, or by itself. */
export async function startStranger(
  { workingDir, home }: Place,
  tmux: TmuxDoor | undefined,
): Promise<ProcessSight> {
  const pid = tmux ? await startInPane(tmux, workingDir) : startAlone(workingDir, home);
  let found = await findProcess(pid);
  await waitFor('the stranger', async () => {
    found = await findProcess(pid);
    return found?.command.startsWith('tail') ?? false;
  });
  if (!found) throw new Error(`The stranger (pid ${pid}) ended at once.`);
  return found;
}

async function startInPane(tmux: TmuxDoor, workingDir: string): Promise<number> {
  const pid = await tmux.run(
    ...['new-session', '-d', '-s', 'stranger', '-c', workingDir, '-P', '-F', '#{pane_pid}'],
    'exec tail -f /dev/null',
  );
  return Number(pid.trim());
}

function startAlone(workingDir: string, home: string): number {
  const child = spawn('tail', ['-f', '/dev/null'], {
    cwd: workingDir,
    env: { PATH: process.env['PATH'] ?? '', HOME: home },
    stdio: 'ignore',
    detached: true,
  });
  child.unref();
  return child.pid ?? -1;
}

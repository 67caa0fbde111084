import { createHash } from 'node:crypto';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { findProcesses, killUntilGone } from './processes.js';

/** The harness's own door to a case's tmux server: it looks and kills, as a person with a shell could. */
export interface TmuxDoor {
  readonly socket: string;
  readonly run: (...args: readonly string[]) => Promise<string>;
  readonly killSession: (name: string) => Promise<void>;
  readonly killServer: () => Promise<void>;
  readonly isServerAlive: () => Promise<boolean>;
  /** Ends a server that holds nothing but its keeper; one that holds a session is left to be found. */
  readonly endIdleServer: () => Promise<void>;
}

const KEEPER_SESSION = 'holdfast-keeper';

/** The tmux server of the state directory `stateDir`, whether it runs or not. */
export function createTmuxDoor(stateDir: string): TmuxDoor {
  const socket = findSocket(stateDir);
  const findServer = () =>
    findProcesses(({ command }) => command.startsWith('tmux') && command.includes(socket));
  const run = async (...args: readonly string[]) => {
    const { stdout } = await execa('tmux', ['-S', socket, '-N', '-f', '/dev/null', ...args], {
      env: { PATH: process.env['PATH'] ?? '', LANG: 'C.UTF-8' },
      extendEnv: false,
    });
    return stdout;
  };
  return {
    socket,
    run,
    killSession: async (name) => {
      await run('kill-session', '-t', `=${name}`);
    },
    killServer: async () => {
      await killUntilGone(findServer);
    },
    endIdleServer: async () => {
      const sessions = await run('list-sessions', '-F', '#{session_name}').catch(() => '');
      if (sessions.trim() === KEEPER_SESSION) await killUntilGone(findServer);
    },
    isServerAlive: async () => (await findServer()).length > 0,
  };
}

/** As provider-core names it: the harness must find it when nothing of provider-core runs. */
function findSocket(stateDir: string): string {
  const name = `${createHash('sha256').update(stateDir).digest('hex').slice(0, 8)}.s`;
  const inside = join(stateDir, 'run', name);
  return Buffer.byteLength(inside) <= 100
    ? inside
    : join(tmpdir(), `holdfast-${userInfo().uid}`, name);
}

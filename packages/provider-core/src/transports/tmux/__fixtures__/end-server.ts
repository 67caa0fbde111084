import { findServerProcess } from '../server-process.js';

/** Kills the server of a socket. Told to end instead, tmux 3.3a may wait for a control client that waits for it. */
export async function endServer(socketPath: string): Promise<void> {
  const server = await findServerProcess(socketPath);
  if (server.state === 'alive') process.kill(server.pid, 'SIGKILL');
}

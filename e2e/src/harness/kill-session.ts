import { existsSync, watch } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { LossDepth, ProcessSight } from '@holdfast/provider-core/certification';
import { createDeferred } from './deferred.js';
import { findProcessesByNonce, killUntilGone } from './processes.js';
import type { TmuxDoor } from './tmux.js';

/** What a loss needs to know of a session: what stands on disk, not what any library says. */
export interface DoomedSession {
  readonly stateDir: string;
  readonly nativeSessionId: string;
  readonly tmuxSession: string | undefined;
  readonly tmux: TmuxDoor;
}

/** Kills as deep as asked, and returns when the dead are proven dead. */
export async function killSession(session: DoomedSession, depth: LossDepth): Promise<void> {
  const { tmux, tmuxSession } = session;
  if (depth === 'pane') {
    if (!tmuxSession)
      throw new Error('The handle names no tmux session whose pane could be killed.');
    await tmux.killSession(tmuxSession);
    return;
  }
  if (depth === 'tmux_server') {
    await tmux.killServer();
    return;
  }
  const nonces = await readNonces(session);
  if (nonces.length === 0) throw new Error('No launch record names a nonce to find processes by.');
  await killUntilGone(() => findByNonces(nonces));
}

/** Arms a trap for the processes the session has now: all of them get SIGKILL the moment `path` is there. */
export async function killWhenWritten(
  session: DoomedSession,
  path: string,
): Promise<{ readonly done: Promise<void> }> {
  const doomed = await findByNonces(await readNonces(session));
  const { promise: done, resolve } = createDeferred<void>();
  // Synchronous from here on: each millisecond is one in which a buffer could be flushed.
  const watcher = watch(dirname(path), () => {
    if (!existsSync(path)) return;
    for (const { pid } of doomed) killNow(pid);
    watcher.close();
    resolve();
  });
  return { done };
}

function killNow(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It died by itself.
  }
}

/** The nonces of the session's launch and of the servers it may use. */
async function readNonces({ stateDir, nativeSessionId }: DoomedSession): Promise<string[]> {
  const entries = await readdir(stateDir, { recursive: true }).catch(() => []);
  const files = entries.filter(
    (entry) =>
      (entry.includes(nativeSessionId) && entry.endsWith('launch.json')) ||
      (entry.startsWith('servers') && entry.endsWith('.json')),
  );
  const texts = await Promise.all(files.map((file) => readFile(join(stateDir, file), 'utf8')));
  return texts.flatMap((text) => /"nonce"\s*:\s*"([^"]+)"/.exec(text)?.[1] ?? []);
}

async function findByNonces(nonces: readonly string[]): Promise<readonly ProcessSight[]> {
  return (await Promise.all(nonces.map(findProcessesByNonce))).flat();
}

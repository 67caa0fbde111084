import { readdir, readFile, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { HandleJson, RunningTurn } from '@holdfast/provider-core/certification';
import { orphanLease } from '../harness/orphan-lease.js';
import { findProcess, findProcesses, killProcess, killUntilGone } from '../harness/processes.js';
import type { RealSubject } from '../harness/real-subject.js';
import type { Target } from './fault-cell.js';

/** What a kill is aimed at. */
export interface Aim {
  readonly subject: RealSubject;
  readonly handle: HandleJson;
  readonly running: RunningTurn | undefined;
}

/** Kills the target, proven dead. A target that does not live at this moment is no kill: false. */
export function strikeTarget(target: Target, aim: Aim): Promise<boolean> {
  return strikes[target](aim);
}

const strikes: Readonly<Record<Target, (aim: Aim) => Promise<boolean>>> = {
  service: async ({ running }) => {
    await running?.kill();
    return running !== undefined;
  },
  pane: async ({ subject, handle }) => {
    const session = await findTmuxSession(subject, handle);
    if (session === undefined) return false;
    await subject.tmux.killSession(session);
    return true;
  },
  cli: async ({ subject, handle }) => {
    if (subject.claims.way !== 'tmux') return killOwnProcesses(subject);
    const pid = await findPanePid(subject, handle);
    const found = pid === undefined ? undefined : await findProcess(pid);
    if (!found) return false;
    await killUntilGone(async () => {
      const now = await findProcess(found.pid);
      return now?.startTime === found.startTime ? [now] : [];
    });
    return true;
  },
  server: async ({ subject }) => {
    const servers = await findServers(subject);
    for (const server of servers) await killProcess(server);
    return servers.length > 0;
  },
  tmux_server: async ({ subject }) => {
    const isAlive = await subject.tmux.isServerAlive();
    await subject.tmux.killServer();
    return isAlive;
  },
  machine: async ({ subject, handle, running }) => {
    await Promise.all([running?.kill(), killUntilGone(subject.livingProcesses)]);
    await forgetBoot(subject, handle);
    return true;
  },
};

/** Without a terminal the CLI is every process that carries the mark of a session. */
async function killOwnProcesses(subject: RealSubject): Promise<boolean> {
  const find = () =>
    findProcesses(
      ({ environ }) => environ.includes(subject.place.root) && environ.includes('HOLDFAST_NONCE='),
    );
  return (await killUntilGone(find)) > 0;
}

/** What a power cut leaves: leases of another boot, and files without the bytes that were never synced. */
async function forgetBoot(subject: RealSubject, handle: HandleJson): Promise<void> {
  const id = subject.nativeSessionId(handle);
  await orphanLease(subject.cliHome, id).catch(() => {});
  const { stateDir } = subject.place;
  const entries = await readdir(stateDir, { recursive: true }).catch(() => []);
  for (const entry of entries) {
    const path = join(stateDir, entry);
    if (entry.endsWith('.json')) await replaceBootId(path);
    if (entry.endsWith('.events.jsonl')) await cutTail(path);
  }
}

async function replaceBootId(path: string): Promise<void> {
  const text = await readFile(path, 'utf8').catch(() => '');
  const other = text.replace(/("boot_?[iI]d"\s*:\s*")[^"]*"/g, '$1another-boot"');
  if (other !== text) await writeFile(path, other);
}

/** A turn's events are appended without a sync, so the last line may be there in part. */
async function cutTail(path: string): Promise<void> {
  const { length } = await readFile(path);
  if (length > 40) await truncate(path, length - 20);
}

async function findTmuxSession(
  subject: RealSubject,
  handle: HandleJson,
): Promise<string | undefined> {
  const listed = await subject.tmux.run('list-sessions', '-F', '#{session_name}').catch(() => '');
  const names = listed.split('\n').filter((name) => name && name !== 'holdfast-keeper');
  const wanted = subject.providerFields(handle)['tmux_session'];
  return names.find((name) => name === wanted) ?? names[0];
}

async function findPanePid(subject: RealSubject, handle: HandleJson): Promise<number | undefined> {
  const session = await findTmuxSession(subject, handle);
  if (session === undefined) return undefined;
  const pid = await subject.tmux
    .run('display-message', '-p', '-t', `=${session}:`, '#{pane_pid}')
    .catch(() => '');
  return Number(pid) || undefined;
}

function findServers(subject: RealSubject) {
  return findProcesses(
    ({ command, environ }) =>
      command.includes(' app-server ') && environ.includes(subject.place.root),
  );
}

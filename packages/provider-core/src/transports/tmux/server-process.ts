import { randomBytes } from 'node:crypto';
import { readdir, readFile, readlink, rename, writeFile } from 'node:fs/promises';
import { z } from 'zod';

/** Whether the server process of a socket lives, whatever the socket itself says. */
export type ServerProcess =
  | { readonly state: 'alive'; readonly pid: number }
  | { readonly state: 'none' }
  | { readonly state: 'unknown' };

const recordSchema = z.looseObject({
  pid: z.number().int().positive(),
  startTime: z.string(),
  bootId: z.string(),
  pidNamespace: z.string(),
});

/** Writes down which process serves the socket, so that it is found when the socket file is gone. */
export async function recordServerProcess(socketPath: string, pid: number): Promise<void> {
  const startTime = await findStartTime(pid);
  const here = await findPlace();
  if (startTime === undefined || !here) return;
  const path = recordPath(socketPath);
  const temporary = `${path}.${randomBytes(6).toString('hex')}.tmp`;
  await writeFile(temporary, `${JSON.stringify({ pid, startTime, ...here })}\n`, { mode: 0o600 });
  await rename(temporary, path);
}

/** Looks for the server by its record, then among the processes that name the socket. Read-only. */
export async function findServerProcess(socketPath: string): Promise<ServerProcess> {
  const recorded = await readRecordedProcess(socketPath);
  return recorded.state === 'none' ? scanForServer(socketPath) : recorded;
}

/** When a process started, in ticks since boot; absent when it is gone, a zombie, or cannot be seen. */
export async function findStartTime(pid: number): Promise<string | undefined> {
  const stat = await readText(`/proc/${pid}/stat`);
  if (stat === undefined) return undefined;
  // The name in parentheses may hold anything, blanks and parentheses too.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return fields[0] === 'Z' || fields[0] === 'X' ? undefined : fields[19];
}

async function readRecordedProcess(socketPath: string): Promise<ServerProcess> {
  const text = await readText(recordPath(socketPath));
  const record = text === undefined ? undefined : readRecord(text);
  if (!record) return { state: 'none' };
  const here = await findPlace();
  if (!here) return { state: 'unknown' };
  if (record.bootId !== here.bootId) return { state: 'none' };
  if (record.pidNamespace !== here.pidNamespace) return { state: 'unknown' };
  const isSame = (await findStartTime(record.pid)) === record.startTime;
  return isSame ? { state: 'alive', pid: record.pid } : { state: 'none' };
}

function readRecord(text: string): z.infer<typeof recordSchema> | undefined {
  try {
    return recordSchema.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}

async function scanForServer(socketPath: string): Promise<ServerProcess> {
  const names = await readdir('/proc').catch(() => []);
  for (const name of names) {
    if (!/^\d+$/.test(name)) continue;
    if ((await readText(`/proc/${name}/comm`)) !== 'tmux: server\n') continue;
    const cmdline = (await readText(`/proc/${name}/cmdline`)) ?? '';
    const isOurs = cmdline.split('\0').includes(socketPath);
    if (isOurs && (await findStartTime(Number(name)))) return { state: 'alive', pid: Number(name) };
  }
  return { state: 'none' };
}

interface Place {
  readonly bootId: string;
  readonly pidNamespace: string;
}

async function findPlace(): Promise<Place | undefined> {
  const bootId = await readText('/proc/sys/kernel/random/boot_id');
  const pidNamespace = await readlink('/proc/self/ns/pid').catch(() => undefined);
  return bootId && pidNamespace ? { bootId: bootId.trim(), pidNamespace } : undefined;
}

function recordPath(socketPath: string): string {
  return `${socketPath}.server.json`;
}

async function readText(path: string): Promise<string | undefined> {
  return readFile(path, 'utf8').catch(() => undefined);
}

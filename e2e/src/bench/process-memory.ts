import { readFile } from 'node:fs/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** What one process costs for itself, in MB: pages that nobody shares. 0 for one that has ended. */
export async function privateMegabytes(pid: number): Promise<number> {
  const text = await readFile(`/proc/${pid}/smaps_rollup`, 'latin1').catch(() => '');
  const kilobytes = (name: string) =>
    Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(text)?.[1] ?? 0);
  return (kilobytes('Private_Clean') + kilobytes('Private_Dirty')) / 1_024;
}

/** Processor time a process has used, in milliseconds. */
export async function cpuMilliseconds(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, 'latin1').catch(() => '');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11] ?? 0) + Number(fields[12] ?? 0)) * TICK_MS;
}

const TICK_MS = 10;

/** What this process keeps in memory once it has put away what it does not need, in MB. */
export function heapMegabytes(): number {
  setFlagsFromString('--expose-gc');
  const collect: unknown = runInNewContext('gc');
  // Buffers that wait to be freed are not counted: they come and go with turns, not with sessions.
  if (typeof collect === 'function') collect();
  return process.memoryUsage().heapUsed / 1_048_576;
}

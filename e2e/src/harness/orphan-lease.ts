import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Rewrites the session's leases as if their owners had died before the machine was last started. */
export async function orphanLease(cliHome: string, nativeSessionId: string): Promise<void> {
  const folder = leaseFolder(cliHome, nativeSessionId);
  const numbers = await listGenerations(folder);
  if (numbers.length === 0) throw new Error(`${folder} holds no lease.`);
  for (const number of numbers) {
    const path = join(folder, String(number));
    const text = await readFile(path, 'utf8');
    const orphaned = text.replace(/("boot_id"\s*:\s*")[^"]*"/, '$1another-boot"');
    if (orphaned === text) throw new Error(`${path} names no boot id.`);
    await writeFile(path, orphaned);
  }
}

/** The newest generation of the session's lease. */
export async function readGeneration(cliHome: string, nativeSessionId: string): Promise<number> {
  return Math.max(0, ...(await listGenerations(leaseFolder(cliHome, nativeSessionId))));
}

/** Takes away every generation after `generation`, so that its owner holds the lease again. */
export async function reviveGeneration(
  cliHome: string,
  nativeSessionId: string,
  generation: number,
): Promise<void> {
  const folder = leaseFolder(cliHome, nativeSessionId);
  for (const name of await readdir(folder)) {
    const number = Number(/^(\d+)/.exec(name)?.[1] ?? 0);
    if (number > generation) await rm(join(folder, name), { recursive: true });
  }
}

function leaseFolder(cliHome: string, nativeSessionId: string): string {
  return join(cliHome, '.holdfast', 'leases', nativeSessionId);
}

async function listGenerations(folder: string): Promise<readonly number[]> {
  const names = await readdir(folder).catch(() => []);
  return names.filter((name) => /^\d+$/.test(name)).map(Number);
}

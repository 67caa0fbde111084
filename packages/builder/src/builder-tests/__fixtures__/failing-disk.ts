import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

/** A disk below one folder that a test fills up, makes read-only and mends. Root may write anywhere, so that permissions cannot show it. */
export interface FailingDisk extends Disposable {
  readonly fail: (code: 'ENOSPC' | 'EROFS') => void;
  readonly mend: () => void;
  /** How many writes failed so far. */
  readonly failures: () => number;
}

/** Plants it into this process, until it is disposed of. */
export function plantFailingDisk(folder: string): FailingDisk {
  let code: string | undefined;
  let failures = 0;
  const check = (path: unknown) => {
    if (code === undefined || typeof path !== 'string' || !path.startsWith(folder)) return;
    failures += 1;
    throw Object.assign(new Error(`${code}: planted, '${path}'`), { code, path });
  };
  const { promises } = fs;
  const { open, mkdir, writeFile, rename, link, unlink, rm } = promises;
  const { openSync, mkdirSync, writeFileSync, renameSync, linkSync, unlinkSync } = fs;
  const kept = { open, mkdir, writeFile, rename, link, unlink, rm };
  const keptNow = { openSync, mkdirSync, writeFileSync, renameSync, linkSync, unlinkSync };
  Object.assign(promises, {
    open: async (...call: Parameters<typeof open>) => {
      if (!isReading(call[1])) check(call[0]);
      return await open(...call);
    },
    mkdir: async (...call: Parameters<typeof mkdir>) => {
      if (!fs.existsSync(String(call[0]))) check(call[0]);
      return await mkdir(...call);
    },
    writeFile: async (...call: Parameters<typeof writeFile>) => {
      check(call[0]);
      await writeFile(...call);
    },
    // A full disk still renames and removes; a read-only one does not.
    ...(['rename', 'link', 'unlink', 'rm'] as const).reduce(
      (all, name) => ({
        ...all,
        [name]: async (...call: never[]) => {
          if (code === 'EROFS') check(call[0]);
          return await (kept[name] as (...call: never[]) => Promise<unknown>)(...call);
        },
      }),
      {},
    ),
  });
  Object.assign(fs, {
    openSync: (...call: Parameters<typeof openSync>) => {
      if (!isReading(call[1])) check(call[0]);
      return openSync(...call);
    },
    mkdirSync: (...call: Parameters<typeof mkdirSync>) => {
      if (!fs.existsSync(String(call[0]))) check(call[0]);
      return mkdirSync(...call);
    },
    writeFileSync: (...call: Parameters<typeof writeFileSync>) => {
      check(call[0]);
      writeFileSync(...call);
    },
    ...(['renameSync', 'linkSync', 'unlinkSync'] as const).reduce(
      (all, name) => ({
        ...all,
        [name]: (...call: never[]) => {
          if (code === 'EROFS') check(call[0]);
          return (keptNow[name] as (...call: never[]) => unknown)(...call);
        },
      }),
      {},
    ),
  });
  syncBuiltinESMExports();
  return {
    fail: (how) => {
      code = how;
    },
    mend: () => {
      code = undefined;
    },
    failures: () => failures,
    [Symbol.dispose]: () => {
      Object.assign(promises, kept);
      Object.assign(fs, keptNow);
      syncBuiltinESMExports();
    },
  };
}

function isReading(flags: unknown): boolean {
  if (typeof flags !== 'number') return flags === undefined || flags === 'r';
  return (flags & (fs.constants.O_WRONLY | fs.constants.O_RDWR)) === 0;
}

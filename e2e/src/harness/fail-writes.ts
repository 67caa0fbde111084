import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

/**
 * Makes every write below a folder fail as on a read-only or full disk: `HOLDFAST_FAIL_WRITES=<code>:<folder>`. Root may
 * write anywhere, so that permissions cannot show it.
 */
export function installWriteFailures(): void {
  const [code, folder] = (process.env['HOLDFAST_FAIL_WRITES'] ?? '').split(':');
  if (!code || !folder) return;
  const isBelow = (path: unknown) => typeof path === 'string' && path.startsWith(folder);
  const fail = (path: unknown) => {
    throw Object.assign(new Error(`${code}: planted, '${String(path)}'`), { code, path });
  };
  const { open, mkdir, writeFile, access } = fs.promises;
  Object.assign(fs.promises, {
    open: async (...call: Parameters<typeof open>) =>
      isBelow(call[0]) && call[1] !== 'r' ? fail(call[0]) : open(...call),
    mkdir: async (...call: Parameters<typeof mkdir>) =>
      isBelow(call[0]) && !fs.existsSync(String(call[0])) ? fail(call[0]) : mkdir(...call),
    writeFile: async (...call: Parameters<typeof writeFile>) =>
      isBelow(call[0]) ? fail(call[0]) : writeFile(...call),
    access: async (...call: Parameters<typeof access>) =>
      isBelow(call[0]) && ((call[1] ?? 0) & fs.constants.W_OK) !== 0 && code === 'EROFS'
        ? fail(call[0])
        : access(...call),
  });
  const { openSync, mkdirSync, writeFileSync } = fs;
  Object.assign(fs, {
    openSync: (...call: Parameters<typeof openSync>) =>
      isBelow(call[0]) && !isReading(call[1]) ? fail(call[0]) : openSync(...call),
    mkdirSync: (...call: Parameters<typeof mkdirSync>) =>
      isBelow(call[0]) && !fs.existsSync(String(call[0])) ? fail(call[0]) : mkdirSync(...call),
    writeFileSync: (...call: Parameters<typeof writeFileSync>) =>
      isBelow(call[0]) ? fail(call[0]) : writeFileSync(...call),
  });
  syncBuiltinESMExports();
}

function isReading(flags: fs.OpenMode | undefined): boolean {
  if (typeof flags !== 'number') return flags === undefined || flags === 'r';
  return (flags & (fs.constants.O_WRONLY | fs.constants.O_RDWR)) === 0;
}

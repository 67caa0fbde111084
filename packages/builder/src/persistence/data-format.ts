import { readJsonFile, StateUnusableError, writeFileAtomic } from '@holdfast/agent';
import type { BuilderLayout } from './layout.js';

/** The newest format of a data directory this version reads, and the one it writes. */
const DATA_FORMAT = 1;

/** Makes a data directory usable. A newer format is a `StateUnusableError`, and nothing in it is touched. */
export async function prepareDataDir(layout: BuilderLayout): Promise<void> {
  const path = layout.format;
  const file = await readJsonFile(path);
  if (file.state === 'absent') return writeFileAtomic(path, `${DATA_FORMAT}\n`);
  if (file.state === 'damaged' || typeof file.value !== 'number') {
    throw new StateUnusableError(path, 'damaged', 'it holds no format number. Put 1 in it.');
  }
  if (file.value > DATA_FORMAT) {
    const detail = `format ${file.value} is newer than ${DATA_FORMAT}. Nothing was touched.`;
    throw new StateUnusableError(path, 'newer_format', detail);
  }
}

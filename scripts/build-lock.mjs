import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const LONGEST_WAIT_MS = 300_000;

/** Lets one build at a time write to the dist folders of this checkout. Resolves with the function that releases it. */
export async function acquireBuildLock(file) {
  mkdirSync(dirname(file), { recursive: true });
  const deadline = performance.now() + LONGEST_WAIT_MS;
  while (!tryToLock(file)) {
    if (performance.now() > deadline) {
      throw new Error(
        `Another build has held ${file} for five minutes. Remove the file if none runs.`,
      );
    }
    await sleep(200);
  }
  return () => rmSync(file, { force: true });
}

function tryToLock(file) {
  try {
    writeFileSync(file, String(process.pid), { flag: 'wx' });
    return true;
  } catch (error) {
    if (error.code !== 'EEXIST') throw error;
    dropIfOwnerIsGone(file);
    return false;
  }
}

function dropIfOwnerIsGone(file) {
  try {
    const owner = Number(readFileSync(file, 'utf8'));
    if (owner > 0) process.kill(owner, 0);
  } catch (error) {
    if (error.code === 'ESRCH') rmSync(file, { force: true });
  }
}

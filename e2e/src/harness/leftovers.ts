import type { ProcessSight } from '@holdfast/provider-core/certification';
import type { TmuxDoor } from './tmux.js';
import { waitFor } from './wait-for.js';

/** What servers may take to notice that their last session is closed. */
const GRACE_MS = 10_000;

/** What still lives when every session is closed and each server had its time to end. */
export async function findLeftovers(
  findProcesses: () => Promise<readonly ProcessSight[]>,
  tmux: TmuxDoor,
): Promise<readonly string[]> {
  let left: readonly string[] = [];
  const isEmpty = async () => {
    await tmux.endIdleServer();
    left = (await findProcesses()).map(({ pid, command }) => `${pid} ${command}`);
    return left.length === 0;
  };
  await waitFor('the end of every process', isEmpty, { deadlineMs: GRACE_MS }).catch(() => {});
  return left;
}

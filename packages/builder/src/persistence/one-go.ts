import { systemClock } from '@holdfast/agent';

/** How long small files are read in one go. */
const AT_ONCE_MS = 8;

/** From the first file that is read until everything else of this process had its turn. */
interface Go {
  readonly since: number;
  readonly plainFolders: Set<string>;
}

let going: Go | undefined;

/**
 * The folders that were seen to be plain ones in this go. None is remembered beyond it, since it may become a link;
 * between a look and the opening that follows it may as well.
 */
export function plainFolders(): Set<string> {
  return thisGo().plainFolders;
}

/** Asked before each small file that is read at once: ends a go that has taken long, so that everything else has its turn. */
export async function breathe(): Promise<void> {
  if (systemClock.monotonicMs() - thisGo().since < AT_ONCE_MS) return;
  await new Promise((resolve) => setImmediate(resolve));
}

function thisGo(): Go {
  if (going) return going;
  going = { since: systemClock.monotonicMs(), plainFolders: new Set() };
  setImmediate(() => {
    going = undefined;
  });
  return going;
}

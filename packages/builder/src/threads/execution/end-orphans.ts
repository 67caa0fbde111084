import { type Clock, findProcessesWithVariable, observePid, ownIdentity } from '@holdfast/agent';
import { endWorkerProcesses, MARKER_VARIABLE } from './worker-marker.js';

/** A worker sees that its runner is gone, and ends by itself; only one that hangs is ended. */
const ORPHAN_GRACE_MS = 15_000;
const POLL_MS = 250;

/** Ends the workers whose runner is dead and that did not end by themselves; gives how many. */
export async function endOrphans(
  clock: Clock,
  isMeant: (mark: string) => boolean = () => true,
): Promise<number> {
  const end = clock.monotonicMs() + ORPHAN_GRACE_MS;
  let orphans = findOrphans().filter(isMeant);
  while (orphans.length > 0 && clock.monotonicMs() < end) {
    await clock.sleep(POLL_MS);
    const still = new Set(findOrphans());
    orphans = orphans.filter((mark) => still.has(mark));
  }
  for (const mark of orphans) await endWorkerProcesses({ mark }, { graceMs: 0, clock });
  return orphans.length;
}

/** The marks of living processes whose runner is proven dead: a pid says something in its own namespace alone. */
function findOrphans(): readonly string[] {
  const here = ownIdentity().pidNamespace.replace(/\D/g, '');
  return [...findProcessesWithVariable(MARKER_VARIABLE).keys()].filter((mark) => {
    const [, pid, startTime, namespace] = mark.split('.');
    if (pid === undefined || startTime === undefined || namespace !== here) return false;
    return observePid(Number(pid), startTime) === 'dead';
  });
}

import { availableParallelism, loadavg } from 'node:os';

/** What of the machine the numbers depend on most, and nothing that names it. */
export function describeMachine() {
  const [load = 0] = loadavg();
  return { cores: availableParallelism(), load: Number(load.toFixed(2)) };
}

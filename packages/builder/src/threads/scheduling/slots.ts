import type { CodingDesk } from './coding-desk.js';

/**
 * Has every slot of a runner look for work. A slot is one durable job of the engine, which one living process runs at a
 * time: so a runner never runs more than it has slots, however many builders share the data directory.
 */
export async function wakeSlots({ engine, runners }: CodingDesk, runnerId: string): Promise<void> {
  const runner = runners.get(runnerId);
  if (!runner) return;
  for (let slot = 0; slot < runner.concurrency; slot += 1) {
    await engine.enqueue(runner.queue, `slot-${slot}`, { runnerId }, { wakes: true });
  }
}

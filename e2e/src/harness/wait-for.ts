import { setTimeout as sleep } from 'node:timers/promises';

const INTERVAL_MS = 20;

/** Probes until `probe` holds; past the deadline it throws and names what was awaited. */
export async function waitFor(
  awaited: string,
  probe: () => boolean | Promise<boolean>,
  { deadlineMs = 60_000 }: { readonly deadlineMs?: number } = {},
): Promise<void> {
  const end = performance.now() + deadlineMs;
  while (!(await probe())) {
    if (performance.now() > end) throw new Error(`Waited ${deadlineMs} ms for ${awaited}.`);
    await sleep(INTERVAL_MS);
  }
}

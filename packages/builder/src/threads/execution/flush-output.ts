import type { Writable } from 'node:stream';
import type { Clock } from '@holdfast/agent';

/** How long whoever reads us may be at a standstill. */
const FLUSH_LIMIT_MS = 60_000;

/**
 * Waits until what was written is out of this process, which would take the rest of it along: a pipe holds less than an
 * outcome may be. A reader that is gone, or that reads nothing for long, is not waited for.
 */
export async function flushOutput(output: Writable, clock: Clock): Promise<void> {
  const flushed = new AbortController();
  const written = new Promise<void>((resolve) => {
    output.write('', () => resolve());
  });
  const late = clock.sleep(FLUSH_LIMIT_MS, flushed.signal).catch(() => {});
  await Promise.race([written, late]);
  flushed.abort();
}

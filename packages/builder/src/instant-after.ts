import { type Clock, isoInstant } from '@holdfast/agent';

/** The instant some milliseconds from now, as ISO 8601: what waits on disk says until when. */
export function instantAfter(clock: Clock, ms: number): string {
  return isoInstant({ ...clock, now: () => clock.now() + ms });
}

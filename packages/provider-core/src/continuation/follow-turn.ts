import type { RecordCursor } from '../spec/record-event.js';
import type { OpenSession } from '../transports/session-transport.js';
import { HostRequests } from './host-requests.js';
import type { TurnStep } from './run-turn.js';
import { steerInto } from './steering.js';
import type { TurnRun } from './turn-run.js';
import { TurnWatch } from './turn-watch.js';
import { TICK, withTicks } from './with-ticks.js';

const TICK_MS = 200;

/** Follows a submitted turn until its record says how it ended, or until there is reason to look again. */
export async function followTurn(
  run: TurnRun,
  open: OpenSession,
  cursor: RecordCursor,
): Promise<TurnStep> {
  const stop = new AbortController();
  using requests = new HostRequests(run, open);
  const watch = new TurnWatch({ run, open, cursor, requests });
  using _steerable = run.steering.open(steerInto(run, open, watch));
  const items = withTicks(open.follow(cursor, stop.signal), {
    intervalMs: TICK_MS,
    clock: run.options.clock,
    wake: run.interrupted,
  });
  try {
    for await (const item of items) {
      const step = item === TICK ? await watch.tick() : await watch.take(item);
      if (step !== undefined && step !== 'look_again') requests.finish();
      if (step !== undefined) return step;
    }
    return 'look_again';
  } finally {
    stop.abort();
  }
}

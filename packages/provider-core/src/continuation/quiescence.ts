import { TimedOutError } from '../errors/turn-error.js';
import type { RecordCursor } from '../spec/record-event.js';
import type { FollowedEvent, OpenSession } from '../transports/session-transport.js';
import { HostRequests } from './host-requests.js';
import type { TurnRun } from './turn-run.js';
import { TICK, withTicks } from './with-ticks.js';

const TICK_MS = 200;
/** A command that ended makes the CLI begin a turn a moment later: quiet counts once it has lasted. */
const QUIET_TICKS = 8;

/**
 * Waits until nothing of the CLI goes on behind the turn's end, and tells of the turns it begins by itself meanwhile. A
 * process that is gone has no work left.
 */
export async function waitForQuiescence(
  run: TurnRun,
  open: OpenSession,
  since: RecordCursor,
): Promise<void> {
  const { clock, limits } = run.options;
  const stop = new AbortController();
  using requests = new HostRequests(run, open);
  const end = clock.monotonicMs() + limits.quiescenceMs;
  const items = withTicks(open.follow(since, stop.signal), {
    intervalMs: TICK_MS,
    clock,
    wake: run.interrupted,
  });
  let quietTicks = 0;
  try {
    for await (const item of items) {
      if (run.interrupted.aborted) return;
      if (item !== TICK && item.kind === 'transport_lost') return;
      if (item !== TICK) tell(run, requests, item);
      quietTicks = item === TICK && (await isQuiet(open)) ? quietTicks + 1 : 0;
      if (quietTicks >= QUIET_TICKS) break;
      if (clock.monotonicMs() >= end) throw late(limits.quiescenceMs);
    }
  } finally {
    stop.abort();
  }
  run.emit({ type: 'quiescent' });
}

function tell(run: TurnRun, requests: HostRequests, item: FollowedEvent): void {
  if (item.kind === 'request') requests.take(item.request);
  if (item.kind === 'request_settled') requests.settled(item.requestId, item.by);
  if (item.kind !== 'record' || !item.durable || item.event.type !== 'turn_ended') return;
  const { origin, answer } = item.event;
  if (origin === 'background') run.emit({ type: 'background_turn', answer });
}

async function isQuiet(open: OpenSession): Promise<boolean> {
  if ((await open.activity()) !== 'idle') return false;
  return ((await open.backgroundWork?.()) ?? 0) === 0;
}

function late(limitMs: number): TimedOutError {
  return new TimedOutError({
    awaiting: 'the background work of the CLI to end; the turn itself is complete',
    limitMs,
    layer: 'provider-core',
  });
}

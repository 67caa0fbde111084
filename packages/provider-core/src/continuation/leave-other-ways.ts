import { TimedOutError } from '../errors/turn-error.js';
import { waitUntil } from '../time/wait-until.js';
import type { SessionTransport } from '../transports/session-transport.js';
import { transportName } from './new-record.js';
import { waysUsed } from './session.js';
import type { TurnRun } from './turn-run.js';

/**
 * One process serves a session: before it is opened in its way, an idle process of another way is ended, and one whose
 * turn runs is waited for. The way is on disk before anything is started in it.
 */
export async function leaveOtherWays(run: TurnRun, signal: AbortSignal): Promise<void> {
  const { session } = run;
  for (const other of session.otherTransports()) await leave(run, other, signal);
  const ways = waysUsed(session.record);
  const transport = transportName(session.way);
  if (ways.includes(session.way) && session.record.transport === transport) return;
  await session.save({ transport, ways: [...new Set([...ways, session.way])] });
}

async function leave(run: TurnRun, other: SessionTransport, signal: AbortSignal): Promise<void> {
  const { limits, clock } = run.options;
  let isTold = false;
  const outcome = await waitUntil(
    async () => {
      const observed = await other.observe(run.session.context());
      if (observed.state === 'gone') return 'gone';
      if (observed.state === 'alive' && observed.activity === 'idle') return 'idle';
      if (!isTold && observed.state === 'alive') run.emit({ type: 'foreign_turn' });
      isTold ||= observed.state === 'alive';
      return undefined;
    },
    {
      awaiting: 'the turn in the session’s other process to end',
      deadlineMs: limits.busyMs,
      intervalMs: 100,
      signal,
      clock,
    },
  );
  if (outcome === 'gone') return;
  const { left } = await other.end(run.session.context(), {
    archive: false,
    deadlineMs: limits.interruptMs,
  });
  if (left.length === 0) return;
  throw new TimedOutError({
    awaiting: `the end of processes ${left.join(', ')}`,
    limitMs: limits.interruptMs,
    layer: 'provider-core',
  });
}

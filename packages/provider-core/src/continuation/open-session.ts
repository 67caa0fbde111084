import { StaleHandleError } from '../errors/continuation-error.js';
import { SessionBusyError } from '../errors/turn-error.js';
import type { PermissionLevel } from '../spec/session-config.js';
import { faultPoint } from '../state/fault-point.js';
import { ensurePrivateDir } from '../state/private-dir.js';
import { waitUntil } from '../time/wait-until.js';
import type { OpenSession } from '../transports/session-transport.js';
import type { TurnRun } from './turn-run.js';

const STRICT_TO_LOOSE: readonly PermissionLevel[] = ['read_only', 'ask', 'edit', 'full'];

/** Attaches to the session or brings it back, and checks that it is the one asked for, no looser than before. */
export async function openSession(
  run: TurnRun,
  {
    finishInterruptedTurn,
    signal = run.interrupted,
  }: { readonly finishInterruptedTurn: boolean; readonly signal?: AbortSignal },
): Promise<OpenSession> {
  const { session, options } = run;
  await refuseForeignOwner(run);
  const context = session.context();
  await ensurePrivateDir(context.filesDir);
  const open = await session.transport.open(context, {
    fence: run.fence,
    finishInterruptedTurn,
    emit: run.emit,
    expectsLive: run.expectsLive || run.progress.submissions > 0,
    onNativeSession: async () => {},
    deadlineMs: options.limits.openMs,
    signal,
  });
  try {
    checkOpened(run, open);
    run.progress.recovered ||= open.recovered;
    if (open.tmuxSession !== undefined && open.tmuxSession !== session.record.tmuxSession) {
      await session.save({ tmuxSession: open.tmuxSession });
    }
    faultPoint('opened');
    return open;
  } catch (error) {
    await open[Symbol.asyncDispose]();
    throw error;
  }
}

/**
 * Waits until nobody's turn runs in the session; a turn that is not ours is told once as `foreign_turn`. `lost` when
 * its process ended meanwhile.
 */
export async function waitUntilFree(run: TurnRun, open: OpenSession): Promise<'free' | 'lost'> {
  let isTold = false;
  const { limits, clock } = run.options;
  return waitUntil(
    async () => {
      const activity = await open.activity();
      if (activity === 'idle') return 'free';
      if (activity === 'unknown') return (await isGone(run)) ? 'lost' : undefined;
      if (!isTold) run.emit({ type: 'foreign_turn' });
      isTold = true;
      return undefined;
    },
    {
      awaiting: 'the session to become idle',
      deadlineMs: limits.busyMs,
      signal: run.interrupted,
      clock,
    },
  );
}

/** How long a process that was killed may take to leave. */
const LEAVING_LOOKS = 15;
const LEAVING_LOOK_MS = 200;

/** Tells whether the session's process is gone, or going: a killed one is seen for a moment longer. */
export async function isLost(run: TurnRun): Promise<boolean> {
  for (let looks = 0; looks < LEAVING_LOOKS; looks++) {
    const { state } = await run.session.transport.observe(run.session.context());
    if (state !== 'unknown') return state === 'gone';
    await run.options.clock.sleep(LEAVING_LOOK_MS);
  }
  return false;
}

async function isGone({ session }: TurnRun): Promise<boolean> {
  return (await session.transport.observe(session.context())).state === 'gone';
}

async function refuseForeignOwner({ session }: TurnRun): Promise<void> {
  const owner = await session.transport.findForeignOwner(session.context());
  if (owner === undefined) return;
  throw new SessionBusyError(owner === 'unknown' ? { kind: 'foreign' } : owner);
}

function checkOpened({ session }: TurnRun, open: OpenSession): void {
  const { definition, record } = session;
  if (open.nativeSessionId !== record.nativeSessionId) {
    throw new StaleHandleError(definition.id, 'native_session_id');
  }
  const { permissions, workingDir } = open.effective;
  const allowed = record.config.toolPolicy?.permissions ?? 'ask';
  if (permissions && STRICT_TO_LOOSE.indexOf(permissions) > STRICT_TO_LOOSE.indexOf(allowed)) {
    throw new StaleHandleError(definition.id, 'tool_policy', { old: allowed, new: permissions });
  }
  if (workingDir !== undefined && workingDir !== record.config.workingDir) {
    throw new StaleHandleError(definition.id, 'working_dir');
  }
}

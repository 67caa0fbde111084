import { StaleHandleError } from '../errors/continuation-error.js';
import { BlockedError, SessionBusyError } from '../errors/turn-error.js';
import type { PermissionLevel } from '../spec/session-config.js';
import { faultPoint } from '../state/fault-point.js';
import { ensurePrivateDir } from '../state/private-dir.js';
import { waitUntil } from '../time/wait-until.js';
import type { OpenSession, SessionActivity } from '../transports/session-transport.js';
import { explainMissingHistory } from './history-expiry.js';
import { leaveOtherWays } from './leave-other-ways.js';
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
  run.trace.enter('launch');
  await refuseForeignOwner(run);
  const context = session.context();
  await ensurePrivateDir(context.filesDir);
  await leaveOtherWays(run, signal);
  const open = await session.transport
    .open(context, {
      fence: run.fence,
      finishInterruptedTurn,
      emit: run.emit,
      expectsLive: run.expectsLive || run.progress.submissions > 0,
      onNativeSession: async () => {},
      deadlineMs: options.limits.openMs,
      signal,
      answersRequests: options.onApproval !== undefined,
    })
    .catch(async (error: unknown) => {
      throw await explainMissingHistory(session, error);
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

/** How long a page may stand that somebody is answering just now. */
const PAGE_PATIENCE_MS = 2_000;

/**
 * Waits until nobody's turn runs in the session; a turn that is not ours is told once as `foreign_turn`. `lost` when
 * its process ended meanwhile. A page that nobody answers is `blocked`.
 */
export async function waitUntilFree(run: TurnRun, open: OpenSession): Promise<'free' | 'lost'> {
  let isTold = false;
  const { limits, clock } = run.options;
  const refuseStandingPage = createPageWatch(run, open);
  return waitUntil(
    async () => {
      const activity = await open.activity();
      if (activity === 'idle') return 'free';
      if (activity === 'unknown') return (await isGone(run)) ? 'lost' : undefined;
      if (!isTold) run.emit({ type: 'foreign_turn' });
      isTold = true;
      await refuseStandingPage(activity);
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

/** Throws `blocked` once the session has waited on a page for a while; a caller who waits for others waits on. */
function createPageWatch({ options }: TurnRun, open: OpenSession) {
  const { clock, whenBusy } = options;
  let waitingSince: number | undefined;
  return async (activity: SessionActivity): Promise<void> => {
    if (activity !== 'waiting' || whenBusy === 'wait') {
      waitingSince = undefined;
      return;
    }
    waitingSince ??= clock.monotonicMs();
    if (clock.monotonicMs() - waitingSince < PAGE_PATIENCE_MS) return;
    const page = await open.findPage?.();
    if (page) throw new BlockedError(page.dialog, page.pageText);
  };
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

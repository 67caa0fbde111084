import { isContinuationError } from '../errors/continuation-error.js';
import { isTurnError } from '../errors/turn-error.js';
import type { CodingProviderSessionHandle } from '../spec/provider-session-handle.js';
import type { TurnResult } from '../spec/turn.js';
import type { EmitTurnEvent, TurnEventBody } from '../spec/turn-event.js';
import { systemClock } from '../time/clock.js';
import { TurnEventLog } from './turn-event-log.js';
import { type CodingAgentTurn, createTurnObject } from './turn-object.js';

/** What the body of a turn gets to tell the outside. */
export interface LiveTurn {
  readonly turnId: string;
  readonly emit: EmitTurnEvent;
  /** Aborted by `turn.interrupt()` and by the caller's signal. */
  readonly interrupted: AbortSignal;
  readonly publishHandle: (handle: CodingProviderSessionHandle) => void;
  readonly attachEvents: TurnEventLog['attach'];
}

/** Starts a turn at once. This is the one place that emits a final event: from the outcome, or the thrown error. */
export function beginTurn(
  turnId: string,
  signal: AbortSignal | undefined,
  body: (live: LiveTurn) => Promise<TurnResult>,
): CodingAgentTurn {
  const log = new TurnEventLog(turnId, systemClock);
  const interrupts = new AbortController();
  const onAbort = () => interrupts.abort();
  if (signal?.aborted) interrupts.abort();
  signal?.addEventListener('abort', onAbort, { once: true });
  const run = async (publishHandle: LiveTurn['publishHandle']): Promise<TurnResult> => {
    try {
      const result = await body({
        turnId,
        emit: log.emit,
        interrupted: interrupts.signal,
        publishHandle,
        attachEvents: (path, options) => log.attach(path, options),
      });
      log.emit({ type: 'completed', handle: result.handle });
      return result;
    } catch (error) {
      log.emit(finalEventOf(error));
      throw error;
    } finally {
      signal?.removeEventListener('abort', onAbort);
      await log.close();
    }
  };
  return createTurnObject({ turnId, log, interrupts, run });
}

function finalEventOf(error: unknown): TurnEventBody {
  if (isContinuationError(error)) {
    if (error.kind === 'stale_handle') {
      return { type: 'stale_handle', changedField: error.changedField };
    }
    const missing = error.kind === 'non_continuable' ? error.missing : 'native_session';
    return { type: 'resume_unavailable', missing };
  }
  if (isTurnError(error)) {
    return error.kind === 'native_history_missing'
      ? { type: 'resume_unavailable', missing: 'history' }
      : { type: 'failed', kind: error.kind, message: error.message };
  }
  const message = error instanceof Error ? error.message : String(error);
  return { type: 'failed', kind: 'unknown', message };
}

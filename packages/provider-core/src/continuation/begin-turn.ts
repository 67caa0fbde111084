import { isContinuationError } from '../errors/continuation-error.js';
import { isTurnError, TurnInterruptedError } from '../errors/turn-error.js';
import type { CodingProviderSessionHandle } from '../spec/provider-session-handle.js';
import type { TurnResult } from '../spec/turn.js';
import type { EmitTurnEvent, TurnEventBody } from '../spec/turn-event.js';
import { systemClock } from '../time/clock.js';
import { isAbortOf } from './interrupted-error.js';
import { Steering } from './steering.js';
import { TurnEventLog } from './turn-event-log.js';
import { type CodingAgentTurn, createTurnObject } from './turn-object.js';
import { beginTrace, type TurnTrace } from './turn-trace.js';
import { typedError } from './typed-error.js';

/** What the body of a turn gets to tell the outside. */
export interface LiveTurn {
  readonly turnId: string;
  readonly emit: EmitTurnEvent;
  /** Aborted by `turn.interrupt()` and by the caller's signal. */
  readonly interrupted: AbortSignal;
  /** Says which session it is, so that every error carries it. */
  readonly knowHandle: (handle: CodingProviderSessionHandle) => void;
  readonly publishHandle: (handle: CodingProviderSessionHandle) => void;
  readonly attachEvents: TurnEventLog['attach'];
  readonly trace: TurnTrace;
  /** Where a running turn can be steered. */
  readonly steering: Steering;
}

/** Starts a turn at once. This is the one place that emits a final event: from the outcome, or the thrown error. */
export function beginTurn(
  turnId: string,
  signal: AbortSignal | undefined,
  body: (live: LiveTurn) => Promise<TurnResult>,
): CodingAgentTurn {
  const log = new TurnEventLog(turnId, systemClock);
  const interrupts = new AbortController();
  const steering = new Steering();
  const onAbort = () => interrupts.abort();
  if (signal?.aborted) interrupts.abort();
  signal?.addEventListener('abort', onAbort, { once: true });
  let known: CodingProviderSessionHandle | undefined;
  const describeError = (thrown: unknown): unknown => {
    const error = isAbortOf(interrupts.signal, thrown) ? interruptedBeforeIt() : typedError(thrown);
    if (!isTurnError(error) && !isContinuationError(error)) return error;
    if (known) error.handle ??= known;
    if (isTurnError(error)) error.turnId ??= turnId;
    return error;
  };
  const run = async (publishHandle: LiveTurn['publishHandle']): Promise<TurnResult> => {
    const trace = await beginTrace(turnId);
    try {
      const result = await body({
        turnId,
        emit: log.emit,
        interrupted: interrupts.signal,
        knowHandle: (handle) => {
          known = handle;
        },
        publishHandle: (handle) => {
          known = handle;
          publishHandle(handle);
        },
        attachEvents: (path, options) => log.attach(path, options),
        steering,
        trace,
      });
      log.emit({ type: 'completed', handle: result.handle });
      trace.end({ provider: result.handle.provider, transport: result.handle.transport });
      return result;
    } catch (thrown) {
      const error = describeError(thrown);
      log.emit(finalEventOf(error));
      trace.end({ provider: known?.provider, transport: known?.transport, failure: kindOf(error) });
      throw error;
    } finally {
      signal?.removeEventListener('abort', onAbort);
      await log.close();
    }
  };
  return createTurnObject({ turnId, log, interrupts, steering, run });
}

/** The caller's interrupt ended a wait that stood before the turn: its journal says what it always said. */
function interruptedBeforeIt(): TurnInterruptedError {
  const why = 'the caller interrupted it while it waited for its session';
  return new TurnInterruptedError({ accepted: false, inHistory: false, why });
}

/** A failure's kind is all a trace gets: messages may quote what a provider said. */
function kindOf(error: unknown): string {
  return isTurnError(error) || isContinuationError(error) ? error.kind : 'defect';
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

import {
  isContinuationError,
  isoInstant,
  isTurnError,
  systemClock,
  type TurnEvent,
} from '@holdfast/provider-core';
import type { AgentSessionHandle } from '../agent-session-handle.js';
import type { AgentTurnEvent, FinalTurnEvent, RunningTurnEvent } from './agent-turn.js';

/** Tells whether the event may be passed on as it is: it ends no turn. */
export function isRunningEvent(event: TurnEvent | AgentTurnEvent): event is RunningTurnEvent {
  return !FINAL_TYPES.has(event.type);
}

const FINAL_TYPES: ReadonlySet<string> = new Set([
  'completed',
  'failed',
  'resume_unavailable',
  'stale_handle',
]);

interface Stamp {
  readonly turnId: string;
  readonly sequence: number;
  /** When the turn below ended, where one did. */
  readonly at?: string | undefined;
}

/** The last event of a turn that completed. */
export function completedEvent(handle: AgentSessionHandle, stamp: Stamp): FinalTurnEvent {
  return { type: 'completed', handle, ...withInstant(stamp) };
}

/** The last event of a turn that ended with `error`. */
export function failedEvent(error: unknown, stamp: Stamp): FinalTurnEvent {
  return { ...describeFailure(error), ...withInstant(stamp) };
}

/** The same words that provider-core's own turns end with. */
function describeFailure(error: unknown) {
  if (isContinuationError(error)) {
    if (error.kind === 'stale_handle') {
      return { type: 'stale_handle', changedField: error.changedField } as const;
    }
    const missing = error.kind === 'non_continuable' ? error.missing : 'native_session';
    return { type: 'resume_unavailable', missing } as const;
  }
  if (isTurnError(error) && error.kind === 'native_history_missing') {
    return { type: 'resume_unavailable', missing: 'history' } as const;
  }
  const message = error instanceof Error ? error.message : String(error);
  return { type: 'failed', kind: isTurnError(error) ? error.kind : 'unknown', message } as const;
}

function withInstant({ at, ...stamp }: Stamp) {
  return { ...stamp, at: at ?? isoInstant(systemClock) };
}

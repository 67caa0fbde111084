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
  const full = withInstant(stamp);
  if (isContinuationError(error)) {
    if (error.kind === 'stale_handle') {
      return { type: 'stale_handle', changedField: error.changedField, ...full };
    }
    if (error.kind === 'non_continuable') {
      return { type: 'resume_unavailable', missing: error.missing, ...full };
    }
  }
  const isOurs = isContinuationError(error) || isTurnError(error);
  const message = error instanceof Error ? error.message : String(error);
  return { type: 'failed', kind: isOurs ? error.kind : 'unexpected', message, ...full };
}

function withInstant({ at, ...stamp }: Stamp) {
  return { ...stamp, at: at ?? isoInstant(systemClock) };
}

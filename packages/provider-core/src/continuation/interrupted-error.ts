import {
  type TurnError,
  TurnInterruptedError,
  UncertainDeliveryError,
} from '../errors/turn-error.js';
import { journalState, type TurnRun } from './turn-run.js';

/** Tells whether the error is a wait's own word that the signal aborted it. */
export function isAbortOf(signal: AbortSignal, error: unknown): boolean {
  return signal.aborted && error === signal.reason;
}

/** What an interrupt means that came while nothing of the message was on its way. The journal knows whether it ever was. */
export function interruptedError({ journal }: Pick<TurnRun, 'journal'>): TurnError {
  const state = journalState(journal.entries);
  if (state === 'submitting') {
    return new UncertainDeliveryError({
      what: 'the caller interrupted it while an earlier try to send it was being looked into',
      journal: state,
      record: 'no_message',
      process: 'unknown',
    });
  }
  const isAccepted = state === 'accepted';
  return new TurnInterruptedError({
    accepted: isAccepted,
    inHistory: isAccepted,
    isFinal: true,
    why: isAccepted ? 'the caller interrupted it' : 'the caller interrupted it before it was sent',
  });
}

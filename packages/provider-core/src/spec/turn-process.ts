/**
 * A CLI started anew for each turn: it gets the message, prints JSON lines and ends. Data and pure functions only: the
 * turn-process transport starts it, reads it and ends it.
 */
export interface TurnProcess {
  readonly kind: 'turn_process';
}

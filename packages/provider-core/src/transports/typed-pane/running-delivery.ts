/** What submit, steer and follow of one open session share. */
export interface RunningDelivery {
  /** Length of the spool when the cursor was taken: what was written since then belongs to the turn. */
  spoolFrom: number;
  /** The message the gate was armed with. */
  armed?: { readonly token: string; readonly text: string; readonly turnId: string };
  /** Texts put into running turns, by the token the gate was armed with. */
  readonly steered: Map<string, { readonly text: string; readonly steerId: string }>;
  /** Whether the host answers requests: then they are told as such, and not as a mere wait. */
  readonly answersRequests: boolean;
  /** Requests that were answered or settled otherwise. */
  readonly answered: Set<string>;
  /** Set while Escape is pressed for the caller: it settles what waits. */
  isInterrupted: boolean;
  /** Turns that the CLI began by itself. */
  readonly backgroundTurns: Set<string>;
  /** What the last end of a turn said of work that goes on behind it. */
  backgroundTasks: number;
}

/** Nothing is under way yet. */
export function createRunningDelivery(
  spoolFrom: number,
  answersRequests: boolean,
  backgroundTasks: number,
): RunningDelivery {
  return {
    spoolFrom,
    answersRequests,
    steered: new Map(),
    answered: new Set(),
    isInterrupted: false,
    backgroundTurns: new Set(),
    backgroundTasks,
  };
}

import type { EmitTurnEvent } from '../spec/turn-event.js';
import type { JournalEntry, TurnJournal } from '../state/turn-journal.js';
import type { LeaseFence } from '../transports/session-transport.js';
import type { JournalState } from './decide-after-crash.js';
import type { OutgoingMessage } from './outgoing-message.js';
import type { OurMessage } from './read-turn.js';
import type { Session } from './session.js';
import type { Steering } from './steering.js';
import type { ResolvedTurnOptions } from './turn-options.js';
import type { TurnTrace } from './turn-trace.js';

/** One run of the turn machine over one message. */
export interface TurnRun {
  readonly session: Session;
  readonly journal: TurnJournal;
  readonly fence: LeaseFence;
  readonly message: OurMessage & OutgoingMessage;
  readonly messageDigest: string;
  /** Set on a nudge: the turn whose message it makes go on. */
  readonly parentTurnId?: string | undefined;
  readonly options: ResolvedTurnOptions;
  readonly emit: EmitTurnEvent;
  readonly steering: Steering;
  readonly trace: TurnTrace;
  /** Aborted when the caller wants the turn interrupted. */
  readonly interrupted: AbortSignal;
  /** Whether the caller's handle gives reason to expect a living terminal. */
  readonly expectsLive: boolean;
  readonly progress: TurnProgress;
}

/** What changes while a run goes on. */
export interface TurnProgress {
  /** A process or terminal had to be brought back. */
  recovered: boolean;
  /** How often the message was put into a provider in this run. */
  submissions: number;
  /** A hook or frame told in this run that the message was taken in; a living process may not get it again. */
  wasTakenIn: boolean;
  /** The caller's own interrupt took effect: the outcome is final. */
  interruptedByCaller: boolean;
}

/** The furthest step the journal tells of: a message that may have left us is never called unsent again. */
export function journalState(entries: readonly JournalEntry[]): JournalState {
  const steps: ReadonlySet<string> = new Set(entries.map(({ step }) => step));
  return LATEST_FIRST.find((step) => steps.has(step)) ?? 'none';
}

const LATEST_FIRST: readonly JournalState[] = ['ended', 'accepted', 'submitting', 'prepared'];

/** The last entry of one step. */
export function lastEntry<Step extends JournalEntry['step']>(
  entries: readonly JournalEntry[],
  step: Step,
): Extract<JournalEntry, { step: Step }> | undefined {
  return entries.findLast(
    (entry): entry is Extract<JournalEntry, { step: Step }> => entry.step === step,
  );
}

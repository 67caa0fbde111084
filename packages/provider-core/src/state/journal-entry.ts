import type { ErrorJson } from '../errors/error-brand.js';
import type { Way } from '../spec/capabilities.js';
import type { RecordCursor } from '../spec/record-event.js';
import type { TurnResult } from '../spec/turn.js';

/** One step of a turn. `ended` alone is final: it is replayed byte for byte. */
export type JournalEntry =
  | {
      readonly step: 'prepared';
      readonly turnId: string;
      readonly messageDigest: string;
      readonly attempt: number;
      readonly parentTurnId?: string | undefined;
      readonly at: string;
    }
  | {
      readonly step: 'submitting';
      readonly attempt: number;
      readonly cursor: RecordCursor;
      /** How it was put in; tmux when absent. */
      readonly way?: Way | undefined;
      readonly at: string;
    }
  | {
      readonly step: 'accepted';
      readonly at: string;
      readonly nativeTurnId?: string | undefined;
    }
  | { readonly step: 'ended'; readonly at: string; readonly outcome: JournaledOutcome }
  | { readonly step: 'parked'; readonly at: string; readonly error: ErrorJson }
  | { readonly step: 'nudged'; readonly at: string; readonly childTurnId: string };

/** How a turn ended for good. */
export type JournaledOutcome =
  | { readonly status: 'completed'; readonly result: JournaledResult }
  | { readonly status: 'interrupted' | 'undeliverable'; readonly error: ErrorJson };

/** What a completed turn gave; the handle is made anew from the launch record. */
export type JournaledResult = Pick<TurnResult, 'answer' | 'usage' | 'sessionUsage' | 'stopReason'>;

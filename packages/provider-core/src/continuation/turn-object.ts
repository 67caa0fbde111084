import type { CodingProviderSessionHandle } from '../spec/provider-session-handle.js';
import type { SteerResult, TurnResult } from '../spec/turn.js';
import type { TurnEvent } from '../spec/turn-event.js';
import type { Steering } from './steering.js';
import type { TurnEventLog } from './turn-event-log.js';

/**
 * One running turn: `await` gives the result, iterating gives the events. It starts at once; a rejection nobody
 * awaits is never unhandled. `break` out of an iteration detaches and cancels nothing.
 */
export interface CodingAgentTurn extends PromiseLike<TurnResult>, AsyncIterable<TurnEvent> {
  readonly turnId: string;
  /** Settles as soon as the native id is known; rejects with the turn's error when it never is. */
  readonly handle: Promise<CodingProviderSessionHandle>;
  /** The events from sequence `from` (0 when absent); ends with the final event, then throws the turn's error. */
  readonly events: (options?: { readonly from?: number }) => AsyncIterable<TurnEvent>;
  /**
   * Puts a text into the running turn, where the provider can take one, and tells what became of it. Never queued by us:
   * what cannot be taken in is `refused`.
   */
  readonly steer: (text: string) => Promise<SteerResult>;
  /** Interrupts the turn; resolves when it has settled. */
  readonly interrupt: () => Promise<void>;
  readonly catch: <Recovered>(
    onRejected: (error: unknown) => Recovered | PromiseLike<Recovered>,
  ) => Promise<TurnResult | Recovered>;
  readonly finally: (onSettled: () => void) => Promise<TurnResult>;
}

interface TurnObjectParts {
  readonly turnId: string;
  readonly log: TurnEventLog;
  readonly interrupts: AbortController;
  readonly steering: Steering;
  readonly run: (
    publishHandle: (handle: CodingProviderSessionHandle) => void,
  ) => Promise<TurnResult>;
}

/** Starts the turn and gives the object that stands for it. */
export function createTurnObject({
  turnId,
  log,
  interrupts,
  steering,
  run,
}: TurnObjectParts): CodingAgentTurn {
  let resolveHandle: (value: CodingProviderSessionHandle) => void = () => {};
  let rejectHandle: (error: unknown) => void = () => {};
  const handlePromise = new Promise<CodingProviderSessionHandle>((resolve, reject) => {
    resolveHandle = resolve;
    rejectHandle = reject;
  });
  const result = run(resolveHandle);
  result.then(({ handle: final }) => resolveHandle(final), rejectHandle);
  // Both may be left unobserved by the caller; that is no crash of the process.
  handlePromise.catch(() => {});
  result.catch(() => {});

  const events = async function* ({ from = 0 }: { readonly from?: number } = {}) {
    yield* log.read(from);
    await result;
  };
  return {
    turnId,
    handle: handlePromise,
    events,
    [Symbol.asyncIterator]: () => events()[Symbol.asyncIterator](),
    // biome-ignore lint/suspicious/noThenProperty: a turn is awaitable by contract.
    then: (onFulfilled, onRejected) => result.then(onFulfilled, onRejected),
    catch: (onRejected) => result.catch(onRejected),
    finally: (onSettled) => result.finally(onSettled),
    steer: steering.steer,
    interrupt: async () => {
      interrupts.abort();
      await result.then(
        () => {},
        () => {},
      );
    },
  };
}

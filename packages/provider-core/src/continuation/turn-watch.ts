import { StaleHandleError } from '../errors/continuation-error.js';
import {
  BlockedError,
  SessionBusyError,
  TimedOutError,
  TurnInterruptedError,
  UncertainDeliveryError,
  UndeliverableMessageError,
} from '../errors/turn-error.js';
import type { RecordCursor, RecordEvent } from '../spec/record-event.js';
import { faultPoint } from '../state/fault-point.js';
import { isoInstant } from '../time/clock.js';
import type { FollowedEvent, OpenSession } from '../transports/session-transport.js';
import { ContentEvents } from './content-events.js';
import { failureError } from './failure-error.js';
import type { HostRequests } from './host-requests.js';
import {
  EMPTY_READING,
  type OurMessage,
  readTurn,
  readTurnEvent,
  type TurnReading,
} from './read-turn.js';
import type { TurnStep } from './run-turn.js';
import { completedOf } from './settle-turn.js';
import type { TurnRun } from './turn-run.js';

/** Idle seen on this many ticks in a row, with no sign from the provider, is reason to look again. */
const IDLE_TICKS = 8;

/** How long after an interrupt the record is looked at for a message that it does not hold. */
const UNRECORDED_MS = 1_000;

interface WatchParts {
  readonly run: TurnRun;
  readonly open: OpenSession;
  readonly cursor: RecordCursor;
  readonly requests: HostRequests;
}

/** Watches one submitted turn: takes in what the provider says, and what it does not say. */
export class TurnWatch {
  readonly #run: TurnRun;
  readonly #open: OpenSession;
  readonly #cursor: RecordCursor;
  readonly #content: ContentEvents;
  readonly #requests: HostRequests;
  readonly #steered: OurMessage[] = [];
  readonly #startedAt: number;
  #reading: TurnReading = EMPTY_READING;
  #lastSignAt: number;
  #idleTicks = 0;
  #interruptedAt: number | undefined;

  constructor({ run, open, cursor, requests }: WatchParts) {
    this.#run = run;
    this.#open = open;
    this.#cursor = cursor;
    this.#requests = requests;
    this.#content = new ContentEvents(run.emit);
    this.#startedAt = run.options.clock.monotonicMs();
    this.#lastSignAt = this.#startedAt;
  }

  /** Takes in one thing the provider said; a step when the turn is over or to be looked at again. */
  async take(item: FollowedEvent): Promise<TurnStep | undefined> {
    this.#sign();
    switch (item.kind) {
      case 'transport_lost':
        return 'look_again';
      case 'blocked':
        throw new BlockedError(item.dialog, item.pageText);
      case 'identity_changed':
        throw new StaleHandleError(this.#run.session.definition.id, 'native_session_id', {
          old: this.#run.session.nativeSessionId,
          new: item.nativeSessionId,
        });
      case 'request':
        this.#requests.take(item.request);
        return undefined;
      case 'request_settled':
        this.#requests.settled(item.requestId, item.by);
        return undefined;
      case 'record':
        return this.#takeRecord(item.event, item.durable);
    }
  }

  /** Whether the provider's record holds the message and not yet its end. */
  readonly isTakenIn = (): boolean => this.#reading.state === 'open';

  /** A text that is put into the running turn: it is ours, whatever the provider makes of it. */
  readonly note = (steered: OurMessage): void => {
    this.#steered.push(steered);
  };

  /** Called when nothing came for a while. */
  async tick(): Promise<TurnStep | undefined> {
    const { options, interrupted } = this.#run;
    if (interrupted.aborted) return this.#interrupt();
    const now = options.clock.monotonicMs();
    if (now - this.#lastSignAt > options.limits.inactivityMs) {
      throw new TimedOutError({
        awaiting: 'any sign of the running turn',
        limitMs: options.limits.inactivityMs,
        layer: 'provider-core',
      });
    }
    // A host may take its time; the provider waits, as it said.
    if (this.#requests.isWaiting) this.#sign();
    const activity = await this.#open.activity();
    this.#idleTicks = activity === 'idle' ? this.#idleTicks + 1 : 0;
    if (this.#idleTicks >= IDLE_TICKS) return 'look_again';
    const isLate = now - this.#startedAt > options.limits.acceptMs;
    return isLate && this.#reading.state === 'no_message' && activity !== 'busy'
      ? 'look_again'
      : undefined;
  }

  async #takeRecord(event: RecordEvent, durable: boolean): Promise<TurnStep | undefined> {
    this.#content.take(event, { durable, isOurs: this.#reading.state === 'open' || !durable });
    // Only the provider's record moves the turn; a block is told by our own gate's spool, which is as durable.
    if (!durable && event.type !== 'message_blocked') {
      this.#noteTakenIn(event);
      return undefined;
    }
    if (this.#isSteered(event)) return undefined;
    if (event.type === 'turn_ended' && event.origin === 'background') {
      this.#run.emit({ type: 'background_turn', answer: event.answer });
    }
    const before = this.#reading;
    this.#reading = readTurnEvent(before, event, {
      text: this.#run.message.text,
      turnId: this.#run.message.turnId,
    });
    if (!before.foreign && this.#reading.foreign) this.#run.emit({ type: 'foreign_turn' });
    if (before.state === this.#reading.state) return undefined;
    return this.#moved();
  }

  #isSteered(event: RecordEvent): boolean {
    return this.#steered.some(
      (steered) => readTurnEvent(EMPTY_READING, event, steered).state === 'open',
    );
  }

  #noteTakenIn(event: RecordEvent): void {
    const { text, turnId } = this.#run.message;
    if (readTurnEvent(EMPTY_READING, event, { text, turnId }).state !== 'open') return;
    this.#run.progress.wasTakenIn = true;
  }

  async #moved(): Promise<TurnStep | undefined> {
    const { state, ended, failed, blockedReason } = this.#reading;
    switch (state) {
      case 'open':
        await this.#accepted();
        return undefined;
      case 'ended':
        faultPoint('answered');
        return ended ? { completed: completedOf({ ended }) } : 'look_again';
      case 'failed':
        throw failureError(failed);
      case 'blocked':
        throw new UndeliverableMessageError('blocked', `${blockedReason ?? 'A hook refused it.'}`);
      case 'interrupted':
      case 'abandoned':
        return 'look_again';
      case 'no_message':
        return undefined;
    }
  }

  async #accepted(): Promise<void> {
    const { journal, session, message, parentTurnId } = this.#run;
    const { nativeTurnId } = this.#reading;
    if (!journal.entries.some((entry) => entry.step === 'accepted')) {
      await journal.append(
        {
          step: 'accepted',
          at: isoInstant(session.clock),
          ...(nativeTurnId === undefined ? {} : { nativeTurnId }),
        },
        { sync: false },
      );
    }
    const { acknowledged } = session.record;
    const saved = session.save({
      acknowledged: true,
      status: 'active',
      lastTurnId: parentTurnId ?? message.turnId,
      ...(this.#open.tmuxSession === undefined ? {} : { tmuxSession: this.#open.tmuxSession }),
    });
    // From its first message on a session can be continued, so that one is waited for. Later ones tell where it stands: the
    // answer need not wait for that, the turn's end does, since each save waits for the one before.
    if (!acknowledged) await saved;
    else saved.catch((error: unknown) => session.logger.warn({ err: error }, 'record not saved'));
    this.#run.trace.enter('wait');
    faultPoint('accepted');
  }

  /** Interrupts for the caller. An answer that is in the record by then wins. */
  async #interrupt(): Promise<TurnStep | undefined> {
    const isFirst = this.#interruptedAt === undefined;
    this.#interruptedAt ??= this.#run.options.clock.monotonicMs();
    let reading = isFirst ? await this.#interruptAndRead() : await this.#readStored();
    if (reading.state === 'no_message' && this.#mayStillCome()) return undefined;
    // It came after the first interrupt, which did not meet it, and may run now.
    if (reading.state === 'open' && !isFirst) reading = await this.#interruptAndRead();
    if (reading.state === 'ended' || reading.state === 'failed') {
      this.#reading = { ...reading };
      return (await this.#moved()) ?? 'look_again';
    }
    this.#run.progress.interruptedByCaller = true;
    throw new TurnInterruptedError({
      accepted: reading.state !== 'no_message',
      inHistory: reading.state === 'interrupted' || (await this.#isCutOff(reading)),
      why: 'the caller interrupted it',
      isFinal: true,
    });
  }

  /** A CLI that takes the message back into its composer records nothing of it; one that is gone left it in its history. */
  async #isCutOff({ state }: TurnReading): Promise<boolean> {
    const { session } = this.#run;
    if (state !== 'open') return false;
    return (await session.transport.observe(session.context())).state === 'gone';
  }

  async #interruptAndRead(): Promise<TurnReading> {
    const { options, message, fence } = this.#run;
    const { turnId } = message;
    // Another owner's turn may run by now.
    if (!fence.isCurrent()) throw new SessionBusyError({ kind: 'ours' });
    await this.#open.interrupt({ deadlineMs: options.limits.interruptMs, turnId });
    this.#requests.interrupted();
    return this.#readStored();
  }

  async #readStored(): Promise<TurnReading> {
    const { session, message } = this.#run;
    const stored = await session.transport.readRecord(session.context(), this.#cursor);
    return stored.state === 'readable' ? readTurn(stored.events, message) : this.#reading;
  }

  /**
   * The CLI writes its record late, so that a message it just took in is missing there for a moment. One it said it took
   * in is missing for longer only if nobody knows what became of it.
   */
  #mayStillCome(): boolean {
    const { options, progress } = this.#run;
    const waited = options.clock.monotonicMs() - (this.#interruptedAt ?? 0);
    if (!progress.wasTakenIn) return waited < UNRECORDED_MS;
    if (waited < options.limits.interruptMs) return true;
    throw new UncertainDeliveryError({
      what: 'the provider said it took the message in, was interrupted, and its record does not hold it',
      journal: 'submitting',
      record: 'no_message',
      process: 'alive',
    });
  }

  #sign(): void {
    this.#lastSignAt = this.#run.options.clock.monotonicMs();
    this.#idleTicks = 0;
  }
}

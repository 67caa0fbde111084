import {
  type BeforeNativeChange,
  type CodingAgentTurn,
  type CodingProviderSessionHandle,
  isContinuationError,
  isTurnError,
  type Message,
  type TurnOptions,
} from '@holdfast/provider-core';
import { type AgentTurnOptions, transportOf } from './agent-options.js';
import type { AgentSession } from './agent-session.js';
import type { HeldMessage, HistoryLine } from './history/session-history.js';
import { type ConversationMessage, digestMessage } from './message.js';
import type { AgentTurnResult } from './turn/agent-turn.js';
import type { TurnStage } from './turn/compose-turn.js';

/** One message on its way into the session. */
export interface Delivery {
  readonly turnId: string;
  /** What the provider is sent. */
  readonly message: Message;
  /** What the history keeps it as, where that is not the same (a seeded first message). */
  readonly recordedAs?: Message | undefined;
  readonly options: AgentTurnOptions;
  /** What was said before, for a session whose transcript is ours and begins with this turn. */
  readonly earlier?: readonly ConversationMessage[] | undefined;
  /** What the session holds besides our own turns; written with the first message. */
  readonly baseline?: Extract<HistoryLine, { readonly type: 'baseline' }> | undefined;
  /** Run once the session is ours and before anything is sent; throws when the plan no longer fits. */
  readonly checkAgain?: (() => Promise<void>) | undefined;
}

/** Sends one message as one provider turn, and keeps the history and the handle true on every way out. */
export async function deliverMessage(
  session: AgentSession,
  stage: TurnStage,
  delivery: Delivery,
): Promise<AgentTurnResult> {
  stage.waiting.throwIfAborted();
  const handle = session.provider;
  const notes = new DeliveryNotes(session, delivery, handle !== undefined);
  if (!handle || delivery.earlier)
    return runPart(session, stage, startPart(session, delivery, notes), notes);
  try {
    return await runPart(session, stage, continuePart(session, handle, delivery, notes), notes);
  } catch (error) {
    if (!(await notes.beganWithThisTurn(handle, error))) throw error;
    // The session was made by this very turn and never acknowledged: its start is gone on with.
    return runPart(session, stage, startPart(session, delivery, notes), notes);
  }
}

function startPart(session: AgentSession, delivery: Delivery, notes: DeliveryNotes) {
  const { provider } = session.options;
  return session.sessions.start({
    provider,
    config: session.config,
    message: delivery.message,
    earlier: delivery.earlier,
    sessionId: session.handle?.sessionId,
    ...turnOptions(session, delivery, notes),
  });
}

function continuePart(
  session: AgentSession,
  handle: CodingProviderSessionHandle,
  delivery: Delivery,
  notes: DeliveryNotes,
) {
  return session.sessions.continue(handle, delivery.message, {
    config: session.config,
    ...turnOptions(session, delivery, notes),
  });
}

function turnOptions(
  session: AgentSession,
  { turnId, options }: Delivery,
  notes: DeliveryNotes,
): TurnOptions {
  const { stateDir, logger, limits } = session.options;
  const { signal, onInterrupted, whenBusy, draft, waitFor } = options;
  return {
    turnId,
    signal,
    onInterrupted,
    whenBusy,
    draft,
    waitFor,
    transport: options.transport ?? transportOf(session.options, session.identity.scope),
    onApproval: options.onApproval ?? session.options.onApproval,
    stateDir,
    logger,
    limits,
    onBeforeNativeChange: (change) => notes.beforeNativeChange(change),
  };
}

async function runPart(
  session: AgentSession,
  stage: TurnStage,
  turn: CodingAgentTurn,
  notes: DeliveryNotes,
): Promise<AgentTurnResult> {
  stage.follow(turn);
  const known = turn.handle.then(async (handle) => {
    // Of a start nothing could be noted before its session had a name; of anything else it must wait for the lease.
    if (!notes.isContinuing) await notes.sent(handle);
    const adopted = session.adopt(handle);
    await session.remember(adopted);
    stage.publishHandle(adopted);
  });
  known.catch(() => {});
  const result = await turn.catch(async (error: unknown) => {
    await Promise.allSettled([known]);
    await notes.failed(error);
    throw error;
  });
  await known;
  await notes.answered(result.handle, result.answer);
  const { handle: _handle, ...rest } = result;
  return { ...rest, handle: session.adopt(result.handle) };
}

/** What the history is told of one delivery. */
class DeliveryNotes {
  readonly isContinuing: boolean;
  readonly #session: AgentSession;
  readonly #delivery: Delivery;
  #isSentNoted = false;
  #wasHeldBefore = false;

  constructor(session: AgentSession, delivery: Delivery, isContinuing: boolean) {
    this.isContinuing = isContinuing;
    this.#session = session;
    this.#delivery = delivery;
  }

  async beforeNativeChange({ turnId, handle }: BeforeNativeChange): Promise<void> {
    await this.#delivery.checkAgain?.();
    if (handle) await this.sent(handle);
    const known = handle && this.#session.wrap(handle);
    await this.#delivery.options.onBeforeNativeChange?.({ turnId, handle: known });
  }

  /** Before the first byte, or, at a start, as soon as the session has a name. */
  async sent(handle: CodingProviderSessionHandle): Promise<void> {
    if (this.#isSentNoted) return;
    this.#isSentNoted = true;
    const { turnId, message, recordedAs = message, baseline } = this.#delivery;
    const held = await this.#session.history.load(handle);
    this.#wasHeldBefore = held?.some((one) => one.turnId === turnId) ?? false;
    if (this.#wasHeldBefore) return;
    if (baseline && !held) await this.#session.history.append(handle, baseline);
    const digest = digestMessage('user', recordedAs);
    const seeded = message === recordedAs ? undefined : true;
    await this.#session.history.append(handle, { type: 'sent', turnId, digest, seeded });
  }

  async answered(handle: CodingProviderSessionHandle, answer: string): Promise<void> {
    await this.sent(handle);
    const { turnId } = this.#delivery;
    const digest = digestMessage('assistant', answer);
    const held = await this.#session.history.load(handle);
    const isNoted = held?.some((one) => isAnswer(one, turnId) && one.digest === digest);
    if (!isNoted) await this.#session.history.append(handle, { type: 'answered', turnId, digest });
  }

  async failed(error: unknown): Promise<void> {
    const handle = handleOfError(error) ?? this.#session.provider;
    if (!handle) return;
    this.#session.adopt(handle);
    const { turnId } = this.#delivery;
    if (isTaken(error, turnId)) {
      await this.sent(handle);
      await this.#session.history.append(handle, { type: 'accepted', turnId });
    }
    if (isRefused(error) && this.#isSentNoted && !this.#wasHeldBefore) {
      await this.#session.history.append(handle, { type: 'withdrawn', turnId });
    }
  }

  /** Whether `error` says that the session was never acknowledged, and it was this turn that made it. */
  async beganWithThisTurn(handle: CodingProviderSessionHandle, error: unknown): Promise<boolean> {
    if (!isContinuationError(error) || error.kind !== 'non_continuable') return false;
    if (error.missing !== 'acknowledged_turn') return false;
    const held = await this.#session.history.load(handle);
    return held?.find((one) => one.role === 'user')?.turnId === this.#delivery.turnId;
  }
}

function isAnswer(one: HeldMessage, turnId: string): boolean {
  return one.role === 'assistant' && one.turnId === turnId;
}

/** The provider took the message in and then failed or was cut off: its own handle says so. */
function isTaken(error: unknown, turnId: string): boolean {
  if (!isTurnError(error)) return false;
  if (error.kind === 'turn_interrupted') return error.accepted;
  return error.handle?.lastTurnId === turnId;
}

/** The message surely never came in. What is less than sure stays open, so that it is not sent twice. */
function isRefused(error: unknown): boolean {
  if (!isTurnError(error)) return false;
  if (error.kind === 'turn_interrupted') return !error.accepted;
  return error.kind === 'undeliverable_message';
}

function handleOfError(error: unknown): CodingProviderSessionHandle | undefined {
  return isTurnError(error) || isContinuationError(error) ? error.handle : undefined;
}

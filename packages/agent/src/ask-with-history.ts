import { HistoryDivergedError } from '@holdfast/provider-core';
import type { ConversationTurnOptions } from './agent-options.js';
import type { AgentSession } from './agent-session.js';
import { type Delivery, deliverMessage } from './deliver-message.js';
import { type DeliveryPlan, planDelivery } from './history/plan-delivery.js';
import { writeSeedMessage } from './history/seed-message.js';
import type { HeldMessage, HistoryLine } from './history/session-history.js';
import { type ConversationMessage, digestMessage } from './message.js';
import type { AgentTurnResult } from './turn/agent-turn.js';
import type { TurnStage } from './turn/compose-turn.js';
import { deriveTurnId } from './turn/turn-id.js';

interface Conversation {
  readonly messages: readonly ConversationMessage[];
  readonly options: ConversationTurnOptions;
}

/**
 * Brings a session up to date with a conversation: every user message it does not hold yet goes in
 * as one turn, in order, and the last one's answer is the result.
 */
export async function askWithHistory(
  session: AgentSession,
  stage: TurnStage,
  conversation: Conversation,
): Promise<AgentTurnResult> {
  await session.findNamed();
  for (;;) {
    const next = (await hasHistory(session))
      ? await planNext(session, stage, conversation)
      : planFirst(session, stage, conversation);
    const result = await deliverMessage(session, stage, next.delivery);
    if (next.isLast) return { ...result, turnId: stage.turnId };
  }
}

/** A handle of another system names a session of ours that was never written down: it begins with what is given. */
async function hasHistory(session: AgentSession): Promise<boolean> {
  const { handle, keepsHistory } = session;
  if (!handle || !keepsHistory || handle.provider.stableFields) return handle !== undefined;
  return (await loadHistory(session)) !== undefined;
}

interface NextDelivery {
  readonly delivery: Delivery;
  readonly isLast: boolean;
}

/** The first message of a session that does not exist yet. */
function planFirst(
  session: AgentSession,
  stage: TurnStage,
  { messages, options }: Conversation,
): NextDelivery {
  const { keepsHistory } = session;
  const lastAnswer = messages.findLastIndex(({ role }) => role === 'assistant');
  if (lastAnswer >= 0 && !options.seedHistory && !keepsHistory) {
    throw new HistoryDivergedError(messages.findIndex(({ role }) => role === 'assistant'));
  }
  const index = messages.findIndex(({ role }, at) => role === 'user' && at > lastAnswer);
  const message = messages[index]?.content;
  if (message === undefined) throw new Error('unreachable: the last message has the role user');
  const isLast = index === messages.length - 1;
  const turnId = isLast ? stage.turnId : deriveTurnId(stage.turnId, index);
  const earlier = messages.slice(0, lastAnswer + 1);
  // Our own transcript can begin with a conversation; a CLI's record cannot.
  if (keepsHistory) return { delivery: { turnId, message, earlier, options }, isLast };
  if (earlier.length === 0) return { delivery: { turnId, message, options }, isLast };
  const seeded = writeSeedMessage(earlier, message);
  const baseline = baselineOf(earlier);
  return {
    delivery: { turnId, message: seeded, recordedAs: message, baseline, options },
    isLast,
  };
}

async function planNext(
  session: AgentSession,
  stage: TurnStage,
  { messages, options }: Conversation,
): Promise<NextDelivery> {
  const replan = async () => {
    const held = await loadHistory(session);
    return { held, plan: planDelivery(messages, held ?? assumeHeld(messages), stage.turnId) };
  };
  const { held, plan } = await replan();
  if (plan.kind === 'diverged') throw new HistoryDivergedError(plan.index);
  const message = messages[plan.index]?.content;
  if (message === undefined) throw new Error('unreachable: a plan names a given message');
  const baseline = held ? undefined : baselineOf(messages.slice(0, -1));
  const delivery: Delivery = {
    turnId: plan.turnId,
    message: wasSeeded(held, plan.turnId)
      ? writeSeedMessage(messages.slice(0, plan.index), message)
      : message,
    recordedAs: message,
    baseline,
    options,
    checkAgain: async () => {
      const again = (await replan()).plan;
      if (!isSamePlan(plan, again)) throw new HistoryDivergedError(again.index);
    },
  };
  return { delivery, isLast: plan.isLast };
}

/** A message that went in with a seed is sent with it again, or its turn would be another one. */
function wasSeeded(held: readonly HeldMessage[] | undefined, turnId: string): boolean {
  return held?.some((one) => one.turnId === turnId && one.seeded === true) ?? false;
}

async function loadHistory(session: AgentSession): Promise<readonly HeldMessage[] | undefined> {
  return session.provider && session.history.load(session.provider);
}

/** A session without a kept history (a legacy one, or from elsewhere) is taken to hold all but the newest message. */
function assumeHeld(messages: readonly ConversationMessage[]): readonly HeldMessage[] {
  return baselineOf(messages.slice(0, -1)).messages.map((one) => ({ ...one, state: 'settled' }));
}

function baselineOf(
  messages: readonly ConversationMessage[],
): Extract<HistoryLine, { readonly type: 'baseline' }> {
  const kept = messages.flatMap(({ role, content }) =>
    role === 'system' ? [] : [{ role, digest: digestMessage(role, content) }],
  );
  return { type: 'baseline', messages: kept };
}

function isSamePlan(one: DeliveryPlan, other: DeliveryPlan): boolean {
  return (
    one.kind === 'deliver' &&
    other.kind === 'deliver' &&
    one.index === other.index &&
    one.turnId === other.turnId
  );
}

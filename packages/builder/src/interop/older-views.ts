import type { ChatDelivery } from '../chat/chat-delivery.js';
import type { ChatEvent } from '../chat/chat-event.js';
import type { ChatView } from '../chat/chat-view.js';
import type { OwnedTerminals, TerminalSnapshot } from '../terminals/terminals.js';
import type { ContinuationState } from '../workflow/continuation-state.js';
import { PHASES } from '../workflow/phases.js';
import type { olderShapes } from './older-shapes.wire.js';

type Older<Name extends keyof typeof olderShapes> = ReturnType<
  (typeof olderShapes)[Name]['decode']
>;

/** What became of a posted message, as the older system answers its clients. What is uncertain was sent, and is confirmed later. */
export function toOlderDelivery(
  { status }: Pick<ChatDelivery, 'status'>,
  { provider, transport }: { readonly provider: string; readonly transport: string },
): Older<'delivery'> {
  const sent = { provider, deliveryTransport: transport, deliverySource: 'mcpagent_session' };
  if (status === 'started_turn') {
    return { ...sent, status: 'started', deliveryStatus: 'next_turn_started' };
  }
  const deliveryStatus = status === 'queued' ? 'queued_for_injection' : 'sent_to_cli';
  return { ...sent, status: 'live_input_delivered', deliveryStatus };
}

/** The word that comes later, as the older system's clients wait for it. */
export function toOlderConfirmation({
  messageId,
  outcome,
}: Extract<ChatEvent, { readonly type: 'message_confirmed' }>): Older<'confirmation'> {
  const told = outcome === 'uncertain' ? 'accepted_but_unflushed' : outcome;
  return { type: 'live_input_confirmed', messageId, outcome: told, proofSource: 'chat_log' };
}

/** The terminals of a chat or an execution, with what is kept of them, as a list of the older system. */
export function toOlderTerminals(
  owned: OwnedTerminals,
  snapshots: readonly TerminalSnapshot[] = [],
): readonly Older<'terminal'>[] {
  const { ownerId, terminals, processState, closeReason } = owned;
  const isChat = !ownerId.includes('~');
  const main = isChat ? `${ownerId}:main:${ownerId}` : `${ownerId}:${ownerId}`;
  return terminals.map(({ terminalId, label, state, openedAt, archivedAt, closesAt }) => {
    const isCurrent = state === 'current';
    const kept = snapshots.find((one) => one.terminalId === terminalId);
    return {
      terminalId: isCurrent ? main : `${main}:turn-${Date.parse(openedAt)}000000`,
      sessionId: ownerId,
      ownerId,
      label,
      content: kept?.content,
      active: isCurrent && processState === 'live',
      processState: isCurrent && processState === 'live' ? 'live' : 'closed',
      snapshotKind: isCurrent ? 'live' : 'archived',
      closeReason,
      closesAt,
      createdAt: openedAt,
      updatedAt: kept?.capturedAt ?? archivedAt ?? openedAt,
    };
  });
}

/** A sub-agent or background agent as the older system's log has it. */
export function toOlderBackgroundAgent(state: ContinuationState): Older<'backgroundAgent'> {
  const { executionId, agent, ownerKind, outcome, answer, createdAt, updatedAt, owner } = state;
  const isOpen = outcome === 'open';
  return {
    agentId: executionId,
    name: agent,
    kind: ownerKind,
    parentExecutionId: owner?.kind === 'execution' ? owner.executionId : undefined,
    status: isOpen ? 'running' : outcome,
    result: answer,
    error: PHASES.map((phase) => state.phases[phase]?.error).find((error) => error !== undefined),
    startedAt: createdAt,
    completedAt: isOpen ? undefined : updatedAt,
    durationMs: isOpen ? undefined : Date.parse(updatedAt) - Date.parse(createdAt),
    updatedAt,
  };
}

/** What a step waits for at a limit; `undefined` where it waits for none. */
export function toOlderCapacityWait(
  state: Pick<ContinuationState, 'stepId' | 'phases'>,
): Older<'capacityWait'> | undefined {
  const suspended = PHASES.map((phase) => state.phases[phase]?.suspended).find(
    (one) => one?.reason === 'rate_limited',
  );
  if (!suspended) return undefined;
  const { until, detail } = suspended;
  return {
    step: state.stepId,
    quotaWindow: detail,
    reopensAt: until,
    status: 'waiting_for_capacity',
  };
}

/** A chat, with the executions it started, as the read model of the older system. */
export function toOlderRuntime(
  { chatId, status, turns, updatedAt }: ChatView,
  children: readonly ContinuationState[],
  { generation, observedAt }: { readonly generation: number; readonly observedAt: string },
): Older<'runtimeSnapshot'> {
  const last = turns.at(-1);
  const background = children.filter(({ ownerKind }) => ownerKind === 'background_agent');
  const running = children.filter(({ ownerKind }) => ownerKind !== 'background_agent');
  return {
    sessionId: chatId,
    generation,
    revision: turns.length,
    phase: status,
    rawSessionStatus: last?.state ?? 'idle',
    childExecutions: running.map((child) => ({
      execution_id: child.executionId,
      kind: child.ownerKind,
      status: child.outcome === 'open' ? 'running' : child.outcome,
      started_at: child.createdAt,
      ...(child.outcome !== 'open' && { completed_at: child.updatedAt }),
    })),
    backgroundAgents: background.map((child) => ({
      agent_id: child.executionId,
      status: child.outcome === 'open' ? 'running' : child.outcome,
      created_at: child.createdAt,
      ...(child.outcome !== 'open' && { completed_at: child.updatedAt }),
    })),
    lastProgressAt: updatedAt,
    startedAt: last?.startedAt,
    observedAt,
  };
}

import {
  type AgentTurnResult,
  isContinuationError,
  isTurnError,
  UncertainDeliveryError,
} from '@holdfast/agent';
import type { PhaseTurn } from '../workflow/continuation-state.js';
import { changePhase } from '../workflow/phase-record.js';
import { ExecutionStoppedError, UnknownExecutionError } from '../workflow/workflow-error.js';
import { agentNotRegistered } from './create-execution-agent.js';
import type { ExecutionContext } from './execution-context.js';
import { readExecutionId } from './execution-key.js';
import { type LiveExecution, openExecution } from './live-execution.js';
import { findFirstTurn, runSessionTurn } from './run-session-turn.js';
import type { SessionDelivery, SessionMessage, SessionTurns } from './session-turns.js';
import { findStop } from './stop-fence.js';

/** Sends into the session of a chat. */
export type SendToChat = (
  chatId: string,
  message: Omit<SessionMessage, 'owner'>,
) => Promise<SessionDelivery>;

/** Messages for the sessions of chats and executions: one turn at a time in each. */
export function createSessionTurns(
  context: ExecutionContext,
  sendToChat: SendToChat,
): SessionTurns {
  return {
    send: async ({ owner, ...message }) => {
      if (owner.kind === 'chat') return await sendToChat(owner.chatId, message);
      return await sendToExecution(context, owner.executionId, message);
    },
  };
}

type ExecutionMessage = Omit<SessionMessage, 'owner'>;

async function sendToExecution(
  context: ExecutionContext,
  executionId: string,
  message: ExecutionMessage,
): Promise<SessionDelivery> {
  if (message.whenBusy === 'steer' && (await steer(context, executionId, message))) {
    return { state: 'steered' };
  }
  const { signal } = message;
  const live = await openExecution(context, readExecutionId(executionId), {
    whenBusy: 'wait',
    signal,
  });
  if (typeof live === 'string') throw new UnknownExecutionError(executionId);
  await using _live = live;
  return { state: 'turn_completed', result: await runMessage(context, live, message) };
}

/** Only a text that the running turn surely took in is not sent again. */
async function steer(
  { notices }: ExecutionContext,
  executionId: string,
  { text, aroundSteer }: ExecutionMessage,
): Promise<boolean> {
  const turn = notices.find(executionId)?.turn();
  if (!turn) return false;
  const put = () => turn.steer(text);
  const { outcome, detail } = await (aroundSteer?.(put) ?? put());
  if (outcome === 'unknown') throw new UncertainDeliveryError({ what: detail, ...NOT_ASKED });
  return outcome !== 'refused';
}

/** A text put into a running turn has no journal, and no record of its own. */
const NOT_ASKED = { journal: 'none', record: 'not asked', process: 'not asked' };

/** The message stands in the main work's record like one of its own, so that whoever comes after a crash goes on with it. */
async function runMessage(
  context: ExecutionContext,
  live: LiveExecution,
  { turnId, text, signal }: ExecutionMessage,
): Promise<AgentTurnResult> {
  const { executionId, agent } = live.state;
  const stop = await findStop(context.store, live.state);
  if (stop !== undefined) throw new ExecutionStoppedError(executionId, stop);
  if (agent === undefined || !context.agents.has(agent)) {
    throw agentNotRegistered(executionId, agent ?? '(none is named)');
  }
  const known = findTurn(live, turnId);
  if (known?.state === 'completed' && live.state.handle) {
    const { handle } = live.state;
    return { turnId, handle, answer: known.answer ?? '', stopReason: 'end_turn', recovered: false };
  }
  if (!known)
    await addMessage(live, { turnId, message: text, kind: 'notification', state: 'open' });
  try {
    return await runSessionTurn(context, {
      live,
      phase: 'main_execution',
      turn: { turnId, message: text },
      session: { agent },
      letGo: signal,
    });
  } catch (error) {
    // Whoever sent it tries again with the same id; the main work need not.
    if (isTurnError(error) || isContinuationError(error)) await dropMessage(live, turnId);
    throw error;
  }
}

function findTurn({ state }: LiveExecution, turnId: string): PhaseTurn | undefined {
  return state.phases.main_execution?.turns.find((one) => one.turnId === turnId);
}

async function addMessage(live: LiveExecution, turn: PhaseTurn): Promise<void> {
  await live.write((state, at) =>
    changePhase(state, 'main_execution', {
      turns: [...(state.phases.main_execution?.turns ?? []), turn],
      updatedAt: at,
    }),
  );
}

async function dropMessage(live: LiveExecution, turnId: string): Promise<void> {
  // One that the session began with stays: whatever became of it, nothing else may begin the session.
  if (findFirstTurn(live.state, {})?.turnId === turnId) return;
  await live.write((state, at) =>
    changePhase(state, 'main_execution', {
      turns: (state.phases.main_execution?.turns ?? []).filter((one) => one.turnId !== turnId),
      updatedAt: at,
    }),
  );
}

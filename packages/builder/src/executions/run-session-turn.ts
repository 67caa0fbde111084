import {
  type Agent,
  type AgentSessionHandle,
  type AgentTurn,
  type AgentTurnEvent,
  type AgentTurnResult,
  encodeAgentSessionHandle,
  isContinuationError,
  type Lease,
  systemClock,
} from '@holdfast/agent';
import { keys } from '../persistence/keys.js';
import type { StoreKey } from '../persistence/store.js';
import { openTerminal } from '../terminals/terminal-group.js';
import { nextTurnEvent } from '../turn-events.js';
import type { ContinuationState, PhaseTurn } from '../workflow/continuation-state.js';
import { changePhase, changeTurn, pendingPhase } from '../workflow/phase-record.js';
import type { Phase } from '../workflow/phases.js';
import { createExecutionAgent, type SessionChoice } from './create-execution-agent.js';
import type { ExecutionContext } from './execution-context.js';
import { keepExecutionSession } from './keep-execution-session.js';
import type { LiveExecution } from './live-execution.js';

/** One message of a phase, on disk with its turn id already. */
export interface SessionTurnRequest {
  readonly live: LiveExecution;
  /** In whose record the turn stands. */
  readonly phase: Phase;
  readonly turn: Pick<PhaseTurn, 'turnId' | 'message'>;
  readonly session: SessionChoice;
  /** Aborting it interrupts the turn. */
  readonly interrupted?: AbortSignal | undefined;
  /** Aborting it lets go of the turn, which goes on without us: the same turn id finds it again. */
  readonly letGo: AbortSignal;
}

/**
 * Runs one turn in a session of an execution, with the session's lane held. Handle, terminals and answer are on disk as
 * soon as they are known. Called again with the same turn id nothing is sent twice.
 */
export async function runSessionTurn(
  context: ExecutionContext,
  request: SessionTurnRequest,
): Promise<AgentTurnResult> {
  const { live, session } = request;
  await using _lane = await takeLane(context, request);
  const handle = findHandle(request);
  try {
    return await runOnce(context, request, handle);
  } catch (error) {
    const begins = findFirstTurn(live.state, session)?.turnId === request.turn.turnId;
    if (!handle || !begins || !wasNeverBegun(error)) throw error;
    // A session that its first message never came into is nothing to continue; its turn id begins it, or finds it.
    return await runOnce(context, request, undefined);
  }
}

function findHandle({ live, phase, session }: SessionTurnRequest): AgentSessionHandle | undefined {
  return session.phase ? live.state.phases[phase]?.handle : live.state.handle;
}

function wasNeverBegun(error: unknown): boolean {
  const isNone = isContinuationError(error) && error.kind === 'non_continuable';
  return isNone && error.missing === 'acknowledged_turn';
}

async function runOnce(
  context: ExecutionContext,
  request: SessionTurnRequest,
  handle: AgentSessionHandle | undefined,
): Promise<AgentTurnResult> {
  const { live, session, letGo } = request;
  await using agent = createExecutionAgent(context, live.state, session);
  letGo.throwIfAborted();
  const turn = startTurn(agent, request, handle);
  live.turn = turn;
  try {
    return await follow(request, agent, turn);
  } finally {
    live.turn = undefined;
    if (!letGo.aborted) await keepExecutionSession(context, live.state, { session, agent });
  }
}

/** The lane decides who is busy: whoever runs a turn in the session holds it. */
async function takeLane(
  { store }: ExecutionContext,
  { live, session, letGo, interrupted }: SessionTurnRequest,
): Promise<Lease> {
  const lane = keys.lane(live.key);
  const key: StoreKey = session.phase ? [...lane.slice(0, -1), `lane.${session.phase}`] : lane;
  const signal = interrupted ? AbortSignal.any([letGo, interrupted]) : letGo;
  for (;;) {
    const { lease } = await store.acquire(key, { signal });
    if (lease) return lease;
    await systemClock.sleep(LOOK_MS, signal);
  }
}

const LOOK_MS = 100;

function startTurn(
  agent: Agent,
  { turn, interrupted }: SessionTurnRequest,
  handle: AgentSessionHandle | undefined,
): AgentTurn {
  const options = {
    turnId: turn.turnId,
    whenBusy: 'wait',
    onInterrupted: 'resume',
    signal: interrupted,
  } as const;
  if (handle) return agent.continueAgentSession(handle, turn.message, options);
  // The session, if it was begun, is found by the turn id of its first message.
  return agent.askWithHistory([{ role: 'user', content: turn.message }], options);
}

/** The turn that a session of an execution began with. */
export function findFirstTurn(
  { phases }: ContinuationState,
  { phase = 'main_execution' }: Pick<SessionChoice, 'phase'>,
): PhaseTurn | undefined {
  return phases[phase]?.turns[0];
}

async function follow(
  request: SessionTurnRequest,
  agent: Agent,
  turn: AgentTurn,
): Promise<AgentTurnResult> {
  const { letGo } = request;
  const kept = keepEvents(request, turn);
  const known = turn.handle.then((handle) => keepHandle(request, handle));
  const all = Promise.allSettled([turn, kept, known]);
  const settled = await untilLetGo(all, letGo);
  const [outcome, events] = settled;
  if (outcome.status === 'rejected') {
    await keepHandle(request, agent.currentAgentSessionHandle());
    throw outcome.reason;
  }
  if (events.status === 'rejected') throw events.reason;
  await completeTurn(request, outcome.value);
  return outcome.value;
}

/** What comes in after we let go is another driver's to keep. */
async function untilLetGo<Value>(settled: Promise<Value>, letGo: AbortSignal): Promise<Value> {
  letGo.throwIfAborted();
  const over = new AbortController();
  const gone = new Promise<never>((_resolve, reject) => {
    letGo.addEventListener('abort', () => reject(letGo.reason), {
      once: true,
      signal: over.signal,
    });
  });
  try {
    return await Promise.race([settled, gone]);
  } finally {
    over.abort();
  }
}

async function keepEvents(request: SessionTurnRequest, turn: AgentTurn): Promise<void> {
  const { live, phase, letGo } = request;
  const iterator = turn.events()[Symbol.asyncIterator]();
  for (;;) {
    const event = await nextTurnEvent(iterator);
    if (!event || letGo.aborted) return;
    await live.log.keep({ phase, turnId: turn.turnId, event });
    if (event.type === 'terminal_opened') await keepTerminal(live, event);
  }
}

async function keepTerminal(
  live: LiveExecution,
  { terminalId, label }: Extract<AgentTurnEvent, { readonly type: 'terminal_opened' }>,
): Promise<void> {
  const open = (state: ContinuationState, at: string) => {
    const group = { ownerId: state.executionId, terminals: state.terminals };
    return openTerminal(group, { terminalId, label, at }).terminals;
  };
  if (open(live.state, '') === live.state.terminals) return;
  await live.write((state, at) => ({ ...state, terminals: open(state, at) }));
}

async function keepHandle(
  request: SessionTurnRequest,
  handle: AgentSessionHandle | undefined,
): Promise<void> {
  const { live, letGo } = request;
  const known = findHandle(request);
  if (!handle || letGo.aborted || (known && isSameHandle(known, handle))) return;
  await live.write((state, at) => withHandle(state, request, { handle, at }));
}

function isSameHandle(one: AgentSessionHandle, other: AgentSessionHandle): boolean {
  const text = (handle: AgentSessionHandle) => JSON.stringify(encodeAgentSessionHandle(handle));
  return text(one) === text(other);
}

/** The turn's end in one write: its answer, the newest handle, and that the phase got on. */
async function completeTurn(
  request: SessionTurnRequest,
  { answer, handle }: AgentTurnResult,
): Promise<void> {
  const { live, phase, turn } = request;
  await live.write((before, at) => {
    const state = withHandle(before, request, { handle, at });
    const record = state.phases[phase] ?? pendingPhase(at);
    const turns = changeTurn(record, turn.turnId, { state: 'completed', answer });
    // Whatever comes next in this phase has all its tries.
    const attempt = Math.min(record.attempt, 1);
    return changePhase(state, phase, { turns, attempt, suspended: undefined, updatedAt: at });
  });
}

function withHandle(
  state: ContinuationState,
  { phase, session }: SessionTurnRequest,
  { handle, at }: { readonly handle: AgentSessionHandle; readonly at: string },
): ContinuationState {
  const next = changePhase(state, phase, { handle, updatedAt: at });
  return session.phase ? next : { ...next, handle };
}

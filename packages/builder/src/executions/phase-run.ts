import { randomUUID } from 'node:crypto';
import type { AgentTurnResult } from '@holdfast/agent';
import type { Outbox } from '../notifications/outbox.js';
import type { PhaseRecord, PhaseTurn } from '../workflow/continuation-state.js';
import type { FoundStep } from '../workflow/phase-plan.js';
import { changePhase, pendingPhase } from '../workflow/phase-record.js';
import type { Phase } from '../workflow/phases.js';
import type { Prompt, StepContext } from '../workflow/workflow-definition.js';
import type { SessionChoice } from './create-execution-agent.js';
import type { ExecutionContext } from './execution-context.js';
import { listStates } from './execution-state.js';
import type { LiveExecution } from './live-execution.js';
import { runSessionTurn } from './run-session-turn.js';

/** One try of one phase, begun on disk. */
export interface PhaseRun {
  readonly context: ExecutionContext;
  readonly outbox: Outbox;
  readonly live: LiveExecution;
  readonly phase: Phase;
  readonly found: FoundStep;
  /** The agent of the execution's own session. */
  readonly agent: string;
  /** Aborts when the execution is stopped. */
  readonly stopped: AbortSignal;
  /** Aborts when this process lets go of the execution. */
  readonly letGo: AbortSignal;
}

/** The record of the phase that runs. */
export function recordOf({ live, phase }: PhaseRun): PhaseRecord {
  return live.state.phases[phase] ?? pendingPhase(live.state.updatedAt);
}

/** For whatever the phase waits for. */
export function waitingSignal({ stopped, letGo }: PhaseRun): AbortSignal {
  return AbortSignal.any([stopped, letGo]);
}

/** What the step's functions are given. */
export async function stepContextOf(run: PhaseRun): Promise<StepContext> {
  const { live, context } = run;
  const { executionId, input, answer, stepId } = live.state;
  const { iteration, group, step } = live.key;
  const states = await listStates(context.store, { iteration, group });
  const completed = states.flatMap((one) =>
    one.outcome === 'completed' && one.answer !== undefined ? [[one.stepId, one.answer]] : [],
  );
  return {
    executionId,
    iteration,
    group,
    step,
    input: input ?? null,
    answers: Object.fromEntries([
      ...completed,
      ...(answer === undefined ? [] : [[stepId, answer]]),
    ]),
    signal: waitingSignal(run),
  };
}

/** Makes a message, and has it on disk with its turn id before anything is sent. */
export async function addTurn(
  run: PhaseRun,
  prompt: Prompt,
  kind: PhaseTurn['kind'],
): Promise<PhaseTurn> {
  const message = typeof prompt === 'string' ? prompt : await prompt(await stepContextOf(run));
  const turn: PhaseTurn = { turnId: randomUUID(), message, kind, state: 'open' };
  await run.live.write((state, at) =>
    changePhase(state, run.phase, {
      turns: [...(state.phases[run.phase]?.turns ?? []), turn],
      turnId: turn.turnId,
      updatedAt: at,
    }),
  );
  return turn;
}

/** Runs a turn of the phase that is on disk. */
export async function runTurn(
  { context, live, phase, agent, stopped, letGo }: PhaseRun,
  turn: PhaseTurn,
  session: SessionChoice = { agent },
): Promise<AgentTurnResult> {
  return await runSessionTurn(context, { live, phase, turn, session, interrupted: stopped, letGo });
}

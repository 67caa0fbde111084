import type { PhaseTurn } from '../workflow/continuation-state.js';
import { completePhase } from '../workflow/phase-record.js';
import { isCodingStep, type Prompt, type StepDefinition } from '../workflow/workflow-definition.js';
import { ChildFailedError } from '../workflow/workflow-error.js';
import { listChildren, listOpenChildren, waitForEnd } from './execution-children.js';
import { addTurn, type PhaseRun, recordOf, runTurn, waitingSignal } from './phase-run.js';
import { runCodingStep } from './run-coding-step.js';
import { startSubStep } from './start-sub-step.js';

/**
 * The main work: every message of the step, each a turn of the same session, then its sub-steps, one after the other, and
 * then the end of everything it owns. What comes into the session meanwhile is answered before the work is over.
 */
export async function runMainExecution(run: PhaseRun): Promise<void> {
  await runOwnTurns(run);
  for (const step of run.found.step?.subSteps ?? []) await runSubStep(run, step);
  for (let open = await listOpen(run); open.length > 0; open = await listOpen(run)) {
    await waitForAll(run, open);
  }
  await runOwnTurns(run);
  await tellChildren(run);
  await run.live.write(
    (state, at) => completePhase(state, 'main_execution', at),
    [{ type: 'phase_completed', phase: 'main_execution' }],
  );
}

async function runOwnTurns(run: PhaseRun): Promise<void> {
  if (isCodingStep(run.found.step)) return await runCodingStep(run, run.found.step);
  for (let turn = await findNextTurn(run); turn; turn = await findNextTurn(run)) {
    await runTurn(run, turn);
  }
}

/** The turn that is open, else the step's next message. */
async function findNextTurn(run: PhaseRun): Promise<PhaseTurn | undefined> {
  const { turns } = recordOf(run);
  const open = turns.find(({ state }) => state === 'open');
  if (open) return open;
  const prompts = listPrompts(run.found.step);
  const done = turns.filter(({ kind }) => kind === 'prompt' || kind === 'sequence_item').length;
  const prompt = prompts[done];
  if (prompt === undefined) return undefined;
  return await addTurn(run, prompt, prompts.length > 1 ? 'sequence_item' : 'prompt');
}

function listPrompts(step: StepDefinition | undefined): readonly Prompt[] {
  if (!step || isCodingStep(step)) return [];
  const { prompt } = step;
  return typeof prompt === 'string' || typeof prompt === 'function' ? [prompt] : prompt;
}

async function runSubStep(run: PhaseRun, step: StepDefinition): Promise<void> {
  const { context, live } = run;
  const child = await startSubStep(run, step);
  const ended = await live.outside(() => waitForEnd(context, child, waitingSignal(run)));
  if (ended.outcome !== 'completed') throw new ChildFailedError(child);
}

function listOpen({ context, live }: PhaseRun): Promise<readonly string[]> {
  return listOpenChildren(context, live.key);
}

async function waitForAll(run: PhaseRun, open: readonly string[]): Promise<void> {
  const { context, live } = run;
  const signal = waitingSignal(run);
  await live.outside(async () => {
    await Promise.all(open.map((child) => waitForEnd(context, child, signal)));
  });
}

/** A child that began while nobody held the log is told of now. */
async function tellChildren({ context, live }: PhaseRun): Promise<void> {
  const told = new Set(
    live.log.events.flatMap((event) =>
      event.type === 'sub_agent_started' ? [event.childExecutionId] : [],
    ),
  );
  for (const childExecutionId of await listChildren(context.store, live.key)) {
    if (told.has(childExecutionId)) continue;
    await live.log.append({ type: 'sub_agent_started', childExecutionId });
  }
}

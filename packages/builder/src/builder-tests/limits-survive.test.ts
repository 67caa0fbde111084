import { AuthRequiredError, RateLimitedError, waitUntil } from '@holdfast/agent';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Builder } from '../create-builder.js';
import { defineWorkflow } from '../workflow/workflow-definition.js';
import { type BuilderMachine, createBuilderMachine } from './__fixtures__/builder-machine.js';

let machine: BuilderMachine;
beforeEach(async () => {
  machine = await createBuilderMachine();
});
afterEach(() => machine.dispose());

const ID = '1~main~draft';
const FAR = '2126-01-01T00:00:00.000Z';
const one = defineWorkflow({
  id: 'one',
  steps: [{ id: 'draft', agent: 'coder', prompt: 'write', learning: { prompt: 'learn' } }],
});

const suspensionOf = async (builder: Builder, phase: 'main_execution' | 'direct_learning') => {
  const [state] = await builder.executions.list({ iteration: '1', group: 'main' });
  return state?.phases[phase]?.suspended?.reason;
};

/** Until the phase waits, though nothing of it failed. */
async function suspended(builder: Builder, phase: 'main_execution' | 'direct_learning') {
  await waitUntil(async () => (await suspensionOf(builder, phase)) !== undefined, {
    awaiting: `${phase} to be suspended`,
    deadlineMs: 20_000,
  });
}

describe.each([
  ['a sign-in that is needed', new AuthRequiredError('signed out'), 'auth_required', 'parked'],
  ['a limit', new RateLimitedError('used up', FAR), 'rate_limited', 'not_before'],
] as const)('%s', (_what, error, reason, left) => {
  it.each(['main_execution', 'direct_learning'] as const)(
    'holds %s up through any number of restarts, is reported, and is over when it is resumed',
    async (phase) => {
      const message = phase === 'main_execution' ? 'write' : 'learn';
      const isHeld = (turnId: string) =>
        [...machine.sessions.world.sessions.values()].some(
          ({ turns }) => turns.get(turnId)?.message === message,
        );
      machine.sessions.onStep = (step, turnId) => {
        if (step === 'prepared' && isHeld(turnId)) throw error;
      };
      {
        await using first = await machine.build({ workflows: [one] });
        await first.workflows.start({ workflow: 'one', iteration: '1' });
        await suspended(first, phase);
      }
      const sent = machine.sessions.userMessages();
      machine.sessions.onStep = () => {};
      for (let restart = 0; restart < 2; restart += 1) {
        await using next = await machine.build({ workflows: [one] });
        expect(next.recovery.executions.left).toMatchObject([
          { executionId: ID, phase, reason: left },
        ]);
        expect(await suspensionOf(next, phase)).toBe(reason);
        expect(machine.sessions.userMessages()).toEqual(sent);
      }
      await using last = await machine.build({ workflows: [one] });
      await last.executions.resume(ID);
      const run = await last.workflows.get({ iteration: '1', group: 'main' });
      const view = await run.wait();
      expect(view.outcome).toBe('completed');
      expect(view.executions[0]?.phases[phase]).toMatchObject({ status: 'completed', attempt: 1 });
      expect(machine.sessions.userMessages()).toEqual(['write', 'learn']);
    },
  );
});

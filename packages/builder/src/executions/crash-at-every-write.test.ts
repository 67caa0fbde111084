import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { MemorySessions } from '../__fixtures__/memory-sessions.js';
import { defineWorkflow } from '../workflow/workflow-definition.js';
import { type Death, MemoryDisk, MemoryStore } from './__fixtures__/memory-store.js';
import {
  createMachine,
  createService,
  ID,
  type Machine,
  start,
  typesOf,
} from './__fixtures__/world.js';

const CHILD = '1~main~part';
const MAIN = '1~main~workflow';
const MESSAGES = ['hello', 'one', 'two', 'part', 'again', 'review', 'learn'];

let machine: Machine;
beforeEach(async () => {
  machine = await createMachine();
});
afterEach(() => machine.dispose());

/** A step with all there is: a sequence, a sub-step, feedback, both kinds of post-step work, a session that is told. */
const workflow = defineWorkflow({
  id: 'report',
  main: { agent: 'coder', prompt: 'hello' },
  steps: [
    {
      id: 'draft',
      agent: 'coder',
      prompt: ['one', () => 'two'],
      subSteps: [{ id: 'part', agent: 'coder', prompt: 'part' }],
      maxAttempts: 3,
      preValidate: (answer) =>
        answer === 'answer to again' ? { passed: true } : { passed: false, feedback: 'again' },
      kbReview: { prompt: 'review' },
      learning: { mode: 'agent', prompt: 'learn' },
    },
  ],
});

/** One life of the service on a disk; `died` when its death came. */
async function live(disk: MemoryDisk, place: Machine, options: LifeOptions = {}) {
  const store = new MemoryStore(disk, options.death);
  const service = createService(place, { store, workflows: [workflow] });
  if (options.before) service.engine.inherit(options.before.engine);
  let died = false;
  try {
    await service.executions.start({
      ...start,
      key: { ...start.key, step: 'workflow' },
      ownerKind: 'workflow',
    });
    await service.engine.run();
    await service.executions.start({
      ...start,
      notify: { kind: 'execution', executionId: MAIN },
    });
    await service.engine.run();
  } catch (error) {
    if (!store.isDead) throw error;
    died = true;
  }
  return { ...service, store: { ...service.store, writes: store.writes }, died };
}

interface LifeOptions {
  readonly death?: Death;
  readonly before?: Pick<ReturnType<typeof createService>, 'engine'>;
}

async function expectWhole(
  service: Awaited<ReturnType<typeof live>>,
  sessions: MemorySessions,
  name: string,
) {
  const state = await service.executions.get(ID);
  const child = await service.executions.get(CHILD);
  expect([state.outcome, child.outcome], name).toEqual(['completed', 'completed']);
  const messages = sessions.userMessages();
  const [news, ...more] = messages.filter((text) => text.startsWith('[AUTO-NOTIFICATION]'));
  expect(news, name).toContain('Step draft completed');
  expect(more, name).toEqual([]);
  expect(messages.filter((text) => text !== news).toSorted(), name).toEqual(MESSAGES.toSorted());
  expect(sessions.world.sessions.size, name).toBe(4);
  expect(service.engine.jobs.size, name).toBe(0);
  const events = await service.events(ID);
  expect(
    events.map(({ sequence }) => sequence),
    name,
  ).toEqual(events.map((_one, index) => index));
  const once = typesOf(events).filter(
    (type) => !/^(phase_started|recovery_queued|learning_continuation|waiting)/.test(type),
  );
  expect(once, name).toEqual([
    'execution_opened',
    'sub_agent_started',
    'phase_completed main_execution',
    'pre_validation_failed',
    'phase_completed main_execution',
    'phase_completed pre_validation',
    'pre_validation_passed',
    'phase_completed kb_review',
    'kb_review_completed kb_review',
    'phase_completed learning_agent',
    'learning_completed learning_agent',
    'auto_notification_sent',
    'auto_notification_sent',
    'phase_completed auto_notification',
    'execution_ended',
  ]);
}

/** Each test kills at so many writes; all together kill at each. */
const WRITES = 12;

describe('a service that dies', () => {
  it.each([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11].map((part) => part * WRITES + 1))(
    'B21, B124: sends each message of each phase once, whichever durable write was its last, from write %i on',
    async (from) => {
      const whole = await live(new MemoryDisk(), machine);
      const total = whole.store.writes;
      expect(total).toBeGreaterThan(60);
      expect(total).toBeLessThan(12 * WRITES);
      const writes = Array.from({ length: WRITES }, (_write, index) => from + index);
      const deaths = writes
        .filter((at) => at <= total)
        .flatMap((at) => [{ at, when: 'before' } as const, { at, when: 'after' } as const]);
      await Promise.all(deaths.map(dieAndGoOn));
    },
  );
});

async function dieAndGoOn(death: Death): Promise<void> {
  const name = `write ${death.at}, ${death.when}`;
  const place = { ...machine, dir: join(machine.dir, `${death.when}-${death.at}`) };
  const disk = new MemoryDisk();
  const sessions = new MemorySessions();
  const first = await live(disk, { ...place, sessions }, { death });
  expect(first.died, name).toBe(true);
  disk.dropLeases();
  const second = await live(disk, { ...place, sessions }, { before: first });
  await expectWhole(second, sessions, name);
}

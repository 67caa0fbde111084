import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { MemorySessions, type Step } from '../__fixtures__/memory-sessions.js';
import { MemoryDisk, MemoryStore } from './__fixtures__/memory-store.js';
import {
  createMachine,
  createService,
  ID,
  type Machine,
  start,
  workflowOf,
} from './__fixtures__/world.js';

let machine: Machine;
beforeEach(async () => {
  machine = await createMachine();
});
afterEach(() => machine.dispose());

const workflows = [
  workflowOf({
    prompt: ['one', 'two'],
    kbReview: { prompt: 'review' },
    learning: { mode: 'agent', prompt: 'learn' },
  }),
];

interface Moment {
  readonly name: string;
  readonly disk: MemoryDisk;
  readonly sessions: MemorySessions;
  readonly jobs: ReturnType<typeof createService>['engine'];
}

/** One whole run; at each step of each turn the machine is copied as it stands. */
async function runAndCopy(): Promise<readonly Moment[]> {
  const disk = new MemoryDisk();
  const service = createService(machine, { store: new MemoryStore(disk), workflows });
  const moments: Moment[] = [];
  const copyAt = (step: Step) => {
    const text = machine.sessions.sent.at(-1)?.text;
    moments.push({
      name: `${text} ${step}`,
      disk: disk.copy(),
      sessions: new MemorySessions(structuredClone(machine.sessions.world)),
      jobs: service.engine,
    });
  };
  machine.sessions.onStep = copyAt;
  await service.executions.start(start);
  await service.engine.run();
  return moments;
}

describe('a service that dies within a turn', () => {
  it('B124: has the answer of each message, each sent once, at whichever step of whichever turn it died', async () => {
    const moments = await runAndCopy();
    expect(moments.map(({ name }) => name)).toEqual(
      ['one', 'two', 'review', 'learn'].flatMap((text) =>
        ['prepared', 'accepted', 'ended'].map((step) => `${text} ${step}`),
      ),
    );
    for (const { name, disk, sessions } of moments) {
      const store = new MemoryStore(disk);
      const service = createService({ ...machine, sessions }, { store, workflows });
      await service.executions.start(start);
      await service.engine.run();
      expect((await service.executions.get(ID)).outcome, name).toBe('completed');
      expect(sessions.userMessages().toSorted(), name).toEqual(
        ['learn', 'one', 'review', 'two'].toSorted(),
      );
      expect(sessions.world.sessions.size, name).toBe(2);
    }
  });
});

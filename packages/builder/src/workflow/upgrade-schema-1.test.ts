import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  createMachine,
  createService,
  type Machine,
  start,
  typesOf,
  workflowOf,
} from '../executions/__fixtures__/world.js';
import { keys } from '../persistence/keys.js';
import { recoverExecutions } from './recover-executions.js';
import { walkOnce } from './walk-runs.js';

const workflow = workflowOf({
  learning: { prompt: 'what did you learn?' },
  kbReview: { prompt: 'what is new?' },
});
const OLD = { iteration: 'iteration-1', group: 'main', step: 'draft' };

let machine: Machine;

beforeEach(async () => {
  machine = await createMachine();
});

afterEach(async () => {
  await machine.dispose();
});

/** A session that the system before this one began, and its handle as schema 1 has it. */
async function beginOldSession() {
  const service = createService(machine, { workflows: [workflowOf({ notify: false })] });
  await service.executions.start(start);
  await service.engine.run();
  const state = await service.executions.get('1~main~draft');
  const read = await service.store.read(keys.state({ ...OLD, iteration: '1' }));
  if (read.state !== 'present' || !state.handle) throw new TypeError('no session was begun');
  const { agent_session_handle: handle } = JSON.parse(JSON.stringify(read.value));
  return { session_id: 's-1', owner_id: 's-1', scope: 'coding_agent', provider: handle.provider };
}

/** The golden file of that name, with a handle that finds a session of this machine. */
async function putGolden(name: string): Promise<void> {
  const handle = await beginOldSession();
  const url = new URL(`../__fixtures__/v1/states/${name}.json`, import.meta.url);
  const file = JSON.parse(await readFile(url, 'utf8'));
  for (const record of [file, ...Object.values<Record<string, unknown>>(file.phases)]) {
    if (record['agent_session_handle']) record['agent_session_handle'] = handle;
  }
  const path = join(machine.dir, 'data', ...keys.state(OLD));
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, JSON.stringify(file));
}

describe('a step of schema 1 that a builder takes over', () => {
  it.each([
    ['waiting-for-lock', ['what is new?', 'what did you learn?']],
    ['kb-pending', ['what is new?']],
    ['retired-phases', ['what is new?', 'what did you learn?']],
  ])('%s: does what it owes in its old session, once, and tells its end', async (name, asked) => {
    await putGolden(name);
    const before = machine.sessions.sent.length;
    const service = createService(machine, { workflows: [workflow] });
    await walkOnce(service.context);
    const { queued, left } = await recoverExecutions(service.context);
    expect({ queued: queued.length, left }).toEqual({ queued: 1, left: [] });
    await service.engine.run();
    const state = await service.executions.get('iteration-1~main~draft');
    expect(state.outcome).toBe('completed');
    const sent = machine.sessions.sent.slice(before);
    expect(sent.map(({ kind, text }) => [kind, text])).toEqual(
      asked.map((text) => ['continue', text]),
    );
    expect(machine.sessions.world.sessions.size).toBe(1);
    expect(service.told.map(({ outcome }) => outcome)).toEqual(['completed']);
    const types = typesOf(await service.events('iteration-1~main~draft'));
    expect(types.filter((type) => type.startsWith('recovery_queued'))).toHaveLength(1);
    expect(types).not.toContain('phase_started main_execution');

    const again = createService(machine, { workflows: [workflow] });
    expect(await walkOnce(again.context)).toBeUndefined();
    expect((await recoverExecutions(again.context)).found).toEqual([]);
  });
});

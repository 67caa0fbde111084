import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { keys } from '../persistence/keys.js';
import { BOSS, type BridgeWorld, CHAT, createBridgeWorld } from './__fixtures__/bridge-world.js';
import type { StoredExecutions } from './__fixtures__/stored-executions.js';

let world: BridgeWorld;
const open: BridgeWorld['open'] = (options) => world.open(options);
const connect: BridgeWorld['connect'] = (bridge, owner) => world.connect(bridge, owner);

beforeEach(async () => {
  world = await createBridgeWorld();
});

afterEach(() => world[Symbol.asyncDispose]());

describe('call_sub_agent', () => {
  it('starts an execution beside its caller and returns its id at once', async () => {
    const session = await connect(await open());
    expect(await session.tools()).toEqual([
      'call_sub_agent',
      'get_sub_agent',
      'list_sub_agents',
      'stop_sub_agent',
    ]);
    const { value } = await session.call('call_sub_agent', { agent: 'researcher', prompt: 'Look' });
    expect(value?.['execution_id']).toMatch(/^1~main~agent-[0-9a-f]{12}$/);
    expect(world.executions.started).toEqual([
      expect.objectContaining({
        ownerKind: 'sub_agent',
        agent: 'researcher',
        prompt: 'Look',
        owner: BOSS,
        notify: BOSS,
      }),
    ]);
  });

  it.each([
    [{ notify: false }, { ownerKind: 'sub_agent', owner: BOSS, notify: undefined }],
    [{ background: true }, { ownerKind: 'background_agent', owner: undefined, notify: BOSS }],
    [
      { background: true, notify: false },
      { ownerKind: 'background_agent', owner: undefined, notify: undefined },
    ],
  ])('keeps "I own it" and "notify me" apart: %j', async (how, expected) => {
    const session = await connect(await open());
    await session.call('call_sub_agent', { agent: 'tester', prompt: 'Test', ...how });
    const [{ ownerKind, owner, notify } = {}] = world.executions.started;
    expect({ ownerKind, owner, notify }).toEqual(expected);
  });

  it('puts those of a chat into the folder of its chat, however long its id', async () => {
    const bridge = await open();
    for (const chatId of ['boss.chat', 'x'.repeat(200)]) {
      const session = await connect(bridge, { kind: 'chat', chatId });
      const call = { agent: 'tester', prompt: 'Test' };
      const { value } = await session.call('call_sub_agent', call);
      expect(value?.['execution_id']).toMatch(
        /^chats~(boss\.chat|c-[0-9a-f]{32})~agent-[0-9a-f]{12}$/,
      );
      expect(world.executions.started.at(-1)).toMatchObject({ notify: { kind: 'chat', chatId } });
    }
  });

  it('names the known agents when it is asked for another', async () => {
    const session = await connect(await open());
    const { refusal } = await session.call('call_sub_agent', { agent: 'ghost', prompt: 'Boo' });
    expect(refusal).toBe('There is no agent ghost. Call one of: researcher, tester.');
    expect(world.executions.started).toEqual([]);
  });

  it('begins one execution for one key, and tells another call under it apart', async () => {
    const bridge = await open();
    const [first, second] = [await connect(bridge), await connect(bridge)];
    const call = { agent: 'tester', prompt: 'Test', key: 'once' };
    const answers = await Promise.all(
      Array.from({ length: 6 }, (_, index) =>
        (index % 2 ? first : second).call('call_sub_agent', call),
      ),
    );
    expect(new Set(answers.map(({ value }) => value?.['execution_id'])).size).toBe(1);
    expect(world.executions.started).toHaveLength(1);
    const { refusal } = await first.call('call_sub_agent', { ...call, prompt: 'Test more' });
    expect(refusal).toContain('The key once was used for another call');
    const other = await connect(bridge, CHAT);
    expect((await other.call('call_sub_agent', call)).value?.['execution_id']).toMatch(/^chats~/);
  });

  it('begins 20 executions for 20 calls at once', async () => {
    const session = await connect(await open());
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        session.call('call_sub_agent', { agent: 'tester', prompt: `Test ${index}` }),
      ),
    );
    expect(new Set(answers.map(({ value }) => value?.['execution_id'])).size).toBe(20);
    const { value } = await session.call('list_sub_agents');
    expect(value?.['sub_agents']).toHaveLength(20);
  });

  it('refuses a call of an owner that was stopped, or whose owner was', async () => {
    const bridge = await open();
    const session = await connect(bridge);
    const call = { agent: 'tester', prompt: 'Test' };
    const { value } = await session.call('call_sub_agent', call);
    const child = await connect(bridge, {
      kind: 'execution',
      executionId: String(value?.['execution_id']),
    });
    expect((await child.call('call_sub_agent', call)).value).toBeDefined();
    await world.executions.stop('1~main~draft', 'enough');
    expect((await session.call('call_sub_agent', call)).refusal).toContain('was stopped');
    expect((await child.call('call_sub_agent', call)).refusal).toContain('1~main~draft');
    expect(world.executions.started).toHaveLength(2);
  });

  it('stops what it began while its owner was being stopped', async () => {
    const stopping: StoredExecutions = {
      ...world.executions,
      start: async (request) => {
        await world.store.write(keys.stop({ iteration: '1', group: 'main', step: 'draft' }), {});
        return world.executions.start(request);
      },
    };
    const session = await connect(await open({ executions: () => stopping }));
    const call = { agent: 'tester', prompt: 'Test', key: 'late' };
    expect((await session.call('call_sub_agent', call)).refusal).toContain('was stopped');
    const [begun] = (await world.executions.list({ iteration: '1', group: 'main' })).filter(
      ({ stepId }) => stepId !== 'draft',
    );
    expect(begun?.outcome).toBe('stopped');
  });

  it.each([
    [{ agent: 'tester' }],
    [{ agent: 'tester', prompt: ' \n' }],
    [{ agent: 'tester', prompt: 'x', key: 'k'.repeat(201) }],
  ])('refuses what is no call: %j', async (input) => {
    const session = await connect(await open());
    const { refusal } = await session.call('call_sub_agent', input);
    expect(refusal).toContain('Invalid arguments');
    expect(world.executions.started).toEqual([]);
  });

  it('refuses a call of the fourth sub-agent in a line, also of one in the background, and says what to do', async () => {
    const bridge = await open();
    for (const how of [{}, { background: true }]) {
      const call = { agent: 'tester', prompt: 'Test', ...how };
      let session = await connect(bridge);
      for (let depth = 1; depth <= 4; depth += 1) {
        const { value } = await session.call('call_sub_agent', call);
        const executionId = String(value?.['execution_id']);
        session = await connect(bridge, { kind: 'execution', executionId });
      }
      const { refusal } = await session.call('call_sub_agent', call);
      expect(refusal).toContain('too_deep');
      expect(refusal).toContain('Do the work yourself');
    }
    expect(world.executions.started).toHaveLength(8);
  });

  it('tells a model nothing of a foreign error', async () => {
    const failing = () => {
      throw new Error('ENOENT /secret/place');
    };
    const session = await connect(await open({ executions: failing }));
    const call = { agent: 'tester', prompt: 'x' };
    expect((await session.call('call_sub_agent', call)).refusal).not.toContain('/secret');
  });
});

describe('the other tools', () => {
  it('tell a caller of its own sub-agents alone', async () => {
    const bridge = await open();
    const [boss, chat] = [await connect(bridge), await connect(bridge, CHAT)];
    const how = { background: true, notify: false };
    const call = { agent: 'researcher', prompt: 'Look', ...how };
    const { value } = await boss.call('call_sub_agent', call);
    const reference = { execution_id: value?.['execution_id'] };
    expect((await boss.call('get_sub_agent', reference)).value).toMatchObject({
      agent: 'researcher',
      state: 'running',
    });
    await world.executions.finish(String(reference.execution_id), 'It is heron.\nTruly.');
    expect((await boss.call('get_sub_agent', reference)).value).toMatchObject({
      state: 'completed',
      answer: 'It is heron.\nTruly.',
    });
    const { value: listed } = await boss.call('list_sub_agents');
    expect(listed?.['sub_agents']).toMatchObject([{ answer: 'It is heron. Truly.' }]);

    expect((await chat.call('list_sub_agents')).value).toEqual({ sub_agents: [] });
    for (const tool of ['get_sub_agent', 'stop_sub_agent']) {
      for (const execution_id of [reference.execution_id, '1~main~draft', '../../x', 'none']) {
        const { refusal } = await chat.call(tool, { execution_id });
        expect(refusal).toContain(`You started no sub-agent ${execution_id}`);
      }
      const { refusal } = await boss.call(tool, { execution_id: '1~main~draft' });
      expect(refusal).toContain('You started no sub-agent');
    }
  });

  it('stop one, which then gives no answer', async () => {
    const session = await connect(await open());
    const call = { agent: 'tester', prompt: 'Test' };
    const { value } = await session.call('call_sub_agent', call);
    const stopped = await session.call('stop_sub_agent', value);
    expect(stopped.value).toMatchObject({ state: 'stopped', error: 'It is stopped.' });
  });
});

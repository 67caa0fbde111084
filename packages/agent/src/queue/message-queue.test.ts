import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  ProviderFailedError,
  TurnInterruptedError,
  UndeliverableMessageError,
  waitUntil,
} from '@holdfast/provider-core';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { MemorySessions } from '../__fixtures__/memory-sessions.js';
import { Agent } from '../agent.js';
import type { AgentOptions } from '../agent-options.js';

let stateDir = '';
let sessions = new MemorySessions();

beforeEach(async () => {
  stateDir = await mkdtemp(join(tmpdir(), 'holdfast-queue-'));
  sessions = new MemorySessions();
});
afterEach(() => rm(stateDir, { recursive: true, force: true }));

const createAgent = (options: Partial<AgentOptions> = {}) =>
  new Agent({
    provider: 'claude-code',
    agentId: 'reviewer',
    workingDir: '/project',
    stateDir,
    sessions,
    ...options,
  } as AgentOptions);

const emptied = (agent: Agent) =>
  waitUntil(async () => (await agent.inspect()).queued === 0, {
    awaiting: 'an empty queue',
    deadlineMs: 10_000,
  });

describe('enqueue', () => {
  it('B105: delivers while idle, and after a running turn, in the order the messages came', async () => {
    const agent = createAgent();
    const first = agent.askWithHistory([{ role: 'user', content: 'one' }]);
    await agent.enqueue('two');
    await agent.enqueue('three');
    await first;
    await emptied(agent);
    await agent.enqueue('four');
    await emptied(agent);
    expect(sessions.userMessages()).toEqual(['one', 'two', 'three', 'four']);
  });

  it('tells the turn of each queued message', async () => {
    const answers: Promise<string>[] = [];
    const agent = createAgent({
      onQueuedTurn: (turn) => answers.push(turn.finally(() => {}).then(({ answer }) => answer)),
    });
    await agent.enqueue('one');
    await emptied(agent);
    expect(await Promise.all(answers)).toEqual(['answer to one']);
  });

  it('is on disk when it resolves: a new agent of that id delivers it into the same session, once', async () => {
    const origin = createAgent();
    await origin.askWithHistory([{ role: 'user', content: 'one' }]);
    const { turnId } = await origin.enqueue('two');
    await emptied(origin);

    // The first agent dies while its queued message is being answered.
    sessions.onStep = (step) => (step === 'accepted' ? new Promise(() => {}) : undefined);
    const queued = await origin.enqueue('three');
    await waitUntil(() => sessions.userMessages().length === 3, {
      awaiting: 'the third message',
      deadlineMs: 10_000,
    });
    expect(queued.turnId).not.toBe(turnId);
    await releaseDeadOwner();

    const later = createAgent({ sessions: new MemorySessions(sessions.world) });
    await later.drain();
    expect((await later.inspect()).queued).toBe(0);
    expect(sessions.world.sessions.size).toBe(1);
    expect(sessions.userMessages()).toEqual(['one', 'two', 'three']);
  });

  it('goes into the session its agent has, from a process that never saw that session', async () => {
    const { handle } = await createAgent().askWithHistory([{ role: 'user', content: 'one' }]);
    const stranger = createAgent();
    await stranger.enqueue('two');
    await emptied(stranger);
    expect(sessions.world.sessions.size).toBe(1);
    expect(sessions.userMessages()).toEqual(['one', 'two']);
    expect(stranger.currentAgentSessionHandle()?.sessionId).toBe(handle.sessionId);
  });

  it('keeps a message that failed, first in line, and drops one that can never be delivered', async () => {
    const agent = createAgent();
    await agent.askWithHistory([{ role: 'user', content: 'one' }]);
    sessions.onStep = (step) => {
      if (step === 'prepared') throw new ProviderFailedError('overloaded', 'later');
    };
    await agent.enqueue('two');
    await agent.drain();
    await agent.enqueue('three');
    await agent.drain();
    expect((await agent.inspect()).queued).toBe(2);

    sessions.onStep = (step) => {
      if (step === 'prepared' && sessions.sent.at(-1)?.text === 'two') {
        throw new UndeliverableMessageError('test', 'never');
      }
    };
    await agent.drain();
    expect((await agent.inspect()).queued).toBe(0);
    expect(sessions.userMessages()).toEqual(['one', 'three']);
  });

  it('drops a message whose own turn its caller interrupted, and goes on with the next', async () => {
    const agent = createAgent();
    await agent.askWithHistory([{ role: 'user', content: 'one' }]);
    let isFirst = true;
    sessions.onStep = (step) => {
      if (step !== 'prepared' || !isFirst) return;
      isFirst = false;
      const facts = { accepted: false, inHistory: false, why: 'a test', isFinal: true };
      throw new TurnInterruptedError(facts);
    };
    await agent.enqueue('two');
    await agent.enqueue('three');
    await emptied(agent);
    await agent.drain();
    expect(sessions.userMessages()).toEqual(['one', 'three']);
  });

  it('delivers each message once when two agents of one id drain at the same time', async () => {
    const one = createAgent();
    await one.askWithHistory([{ role: 'user', content: 'zero' }]);
    const other = createAgent();
    const numbers = Array.from({ length: 8 }, (_none, index) => `message ${index}`);
    for (const [index, text] of numbers.entries()) await (index % 2 ? one : other).enqueue(text);
    await Promise.all([one.drain(), other.drain()]);
    await emptied(one);
    expect(sessions.userMessages()).toEqual(['zero', ...numbers]);
  });

  it('takes the same turn id once', async () => {
    const agent = createAgent();
    const turnId = '11111111-1111-4111-8111-111111111111';
    await Promise.all([agent.enqueue('one', { turnId }), agent.enqueue('one', { turnId })]);
    await emptied(agent);
    expect(sessions.userMessages()).toEqual(['one']);
  });

  it('refuses a damaged queue and keeps what stood in it', async () => {
    const agent = createAgent();
    await agent.enqueue('one');
    await emptied(agent);
    const folder = join(stateDir, 'agents', 'queues');
    const file = (await readdir(folder)).find((name) => name.endsWith('.json'));
    await writeFile(join(folder, file ?? ''), '{"schema_version":1,"messages":[{');
    await expect(agent.enqueue('two')).rejects.toMatchObject({
      kind: 'state_unusable',
      reason: 'damaged',
    });
    expect(await readdir(folder)).toContain(`${file}.damaged-1`);
  });
});

/** What a dead process leaves: leases whose owner is gone. Here the owner is this very process. */
async function releaseDeadOwner(): Promise<void> {
  const folder = join(stateDir, 'agents', 'queues');
  for (const name of await readdir(folder)) {
    if (name.endsWith('lease')) await rm(join(folder, name), { recursive: true });
  }
}

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ApprovalHandler, HostRequest } from '../spec/host-request.js';
import type { TurnEvent } from '../spec/turn-event.js';
import { type Clock, systemClock } from '../time/clock.js';
import { waitUntil } from '../time/wait-until.js';
import type { OpenSession } from '../transports/session-transport.js';
import { HostRequests } from './host-requests.js';
import { LiveScript } from './live-script.js';
import { beginScripted, type ScriptedTurnOptions } from './scripted-session.js';
import type { TurnRun } from './turn-run.js';

let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'hf-requests-'));
});
afterEach(async () => {
  await rm(root, { recursive: true, force: true });
});

const approval: HostRequest = {
  type: 'approval',
  requestId: 'call-1',
  toolName: 'Bash',
  input: { command: 'make' },
  detail: 'Bash: make',
};
const question: HostRequest = {
  type: 'question',
  requestId: 'ask-1',
  questions: [{ id: 'q', question: 'Which?', choices: [{ label: 'this' }], allowsSeveral: false }],
  detail: 'Which?',
};

const until = (awaiting: string, probe: () => boolean) =>
  waitUntil(probe, { awaiting, deadlineMs: 20_000 });

/** Runs a turn in which the provider asks, and ends it once it was answered. */
async function ask(
  script: LiveScript,
  request: HostRequest,
  options: Partial<ScriptedTurnOptions>,
): Promise<TurnEvent[]> {
  const { turn } = await beginScripted(script.provider, 'build it', {
    stateDir: join(root, 'state'),
    transport: script.transport,
    ...options,
  });
  await until('the message to be sent', () => script.provider.sent.length > 0);
  script.say({ kind: 'request', request });
  script.say({ kind: 'request', request });
  await until('a decision', () => script.decisions.length > 0);
  script.answer('done');
  await turn;
  const events: TurnEvent[] = [];
  for await (const event of turn) events.push(event);
  return events;
}

const settled = (events: readonly TurnEvent[]) =>
  events.filter(({ type }) => type === 'approval_settled');

describe('approvals and questions of a turn', () => {
  it('asks the handler once, gives its decision, and tells who decided', async () => {
    const script = new LiveScript();
    const asked: HostRequest[] = [];
    const events = await ask(script, approval, {
      onApproval: (request) => {
        asked.push(request);
        return { decision: 'allow' };
      },
    });
    expect(asked).toEqual([approval]);
    expect(script.decisions).toEqual([['call-1', { decision: 'allow' }]]);
    expect(events).toContainEqual(
      expect.objectContaining({
        type: 'approval_requested',
        requestId: 'call-1',
        toolName: 'Bash',
        detail: 'Bash: make',
      }),
    );
    expect(settled(events)).toMatchObject([{ decision: 'allow', by: 'host' }]);
  });

  it('denies when the handler takes longer than its deadline', async () => {
    const script = new LiveScript();
    const onApproval: ApprovalHandler = () => new Promise(() => {});
    const events = await ask(script, approval, { onApproval, limits: { approvalMs: 1 } });
    expect(script.decisions).toMatchObject([['call-1', { decision: 'deny' }]]);
    expect(settled(events)).toMatchObject([{ decision: 'deny', by: 'deadline' }]);
  });

  it.each([
    ['throws', () => Promise.reject(new TypeError('no'))],
    ['answers an approval like a question', () => ({ decision: 'answer', answers: {} }) as const],
    ['gives nothing at all', () => undefined as never],
  ])('denies, and says so, when the handler %s', async (_what, onApproval) => {
    const script = new LiveScript();
    const events = await ask(script, approval, { onApproval });
    expect(script.decisions).toEqual([['call-1', { decision: 'deny' }]]);
    expect(settled(events)).toMatchObject([{ decision: 'deny', by: 'policy' }]);
  });

  it('denies at once where there is no handler', async () => {
    const script = new LiveScript();
    const events = await ask(script, approval, {});
    expect(settled(events)).toMatchObject([{ decision: 'deny', by: 'policy' }]);
  });

  it('gives the answers to a question', async () => {
    const script = new LiveScript();
    const decision = { decision: 'answer', answers: { q: ['this'] } } as const;
    const events = await ask(script, question, { onApproval: () => decision });
    expect(script.decisions).toEqual([['ask-1', decision]]);
    expect(settled(events)).toMatchObject([{ decision: 'answer', by: 'host' }]);
  });

  it('tells the handler when a person was first, and counts the person', async () => {
    const script = new LiveScript();
    let aborted = false;
    const onApproval: ApprovalHandler = (_request, { signal }) => {
      signal.addEventListener('abort', () => {
        aborted = true;
      });
      return new Promise(() => {});
    };
    const { turn } = await beginScripted(script.provider, 'build it', {
      stateDir: join(root, 'state'),
      transport: script.transport,
      onApproval,
    });
    await until('the message to be sent', () => script.provider.sent.length > 0);
    script.say({ kind: 'request', request: approval });
    script.say({ kind: 'request_settled', requestId: 'call-1', by: 'person' });
    await until('the handler to be told', () => aborted);
    script.answer('done');
    await turn;
    const events: TurnEvent[] = [];
    for await (const event of turn) events.push(event);
    expect(settled(events)).toMatchObject([{ by: 'person' }]);
    expect(script.decisions).toEqual([]);
  });

  it('tells of a decision that the turn’s end overtook', async () => {
    const script = new LiveScript();
    script.answersWith = new Promise(() => {});
    const events = await ask(script, approval, { onApproval: () => ({ decision: 'allow' }) });
    expect(settled(events)).toMatchObject([{ decision: 'allow', by: 'host' }]);
  });

  it('leaves a request that waits at the end of its connection for whoever follows next', async () => {
    const script = new LiveScript();
    const stateDir = join(root, 'state');
    const asked: string[] = [];
    const first = await beginScripted(script.provider, 'build it', {
      stateDir,
      transport: script.transport,
      onApproval: ({ requestId }) => {
        asked.push(requestId);
        return asked.length === 1 ? new Promise(() => {}) : { decision: 'allow' };
      },
    });
    await until('the message to be sent', () => script.provider.sent.length > 0);
    script.say({ kind: 'request', request: approval });
    await until('the handler to be asked', () => asked.length === 1);
    script.say({ kind: 'transport_lost', why: 'scripted' });
    await until('the handler to be asked again', () => asked.length === 2);
    script.answer('done');
    await first.turn;
    expect(asked).toEqual(['call-1', 'call-1']);
    expect(script.decisions).toEqual([['call-1', { decision: 'allow' }]]);
    expect(script.provider.sent).toEqual(['build it']);
  });

  it('tells of a request that an interrupt ended, as denied by it', async () => {
    const script = new LiveScript();
    const caller = new AbortController();
    const { turn } = await beginScripted(script.provider, 'build it', {
      stateDir: join(root, 'state'),
      transport: script.transport,
      onApproval: () => new Promise(() => {}),
      signal: caller.signal,
    });
    await until('the message to be sent', () => script.provider.sent.length > 0);
    script.say({ kind: 'request', request: approval });
    const asked = turn.events();
    for await (const { type } of asked) if (type === 'approval_requested') break;
    caller.abort();
    await expect(turn).rejects.toMatchObject({ kind: 'turn_interrupted' });
    const events: TurnEvent[] = [];
    await (async () => {
      for await (const event of turn) events.push(event);
    })().catch(() => {});
    expect(settled(events)).toMatchObject([{ decision: 'deny', by: 'interrupt' }]);
    expect(script.decisions).toEqual([]);
  });

  it('lets go of the deadline when a turn ends under a handler that never answers', async () => {
    const waits: AbortSignal[] = [];
    const clock: Clock = {
      ...systemClock,
      sleep: (_ms, signal) => {
        if (signal) waits.push(signal);
        return new Promise((_resolve, reject) => {
          signal?.addEventListener('abort', () => reject(signal.reason), { once: true });
        });
      },
    };
    const options = { onApproval: () => new Promise(() => {}), limits: { approvalMs: 1 }, clock };
    const requests = new HostRequests(
      { options, emit: () => {} } as unknown as TurnRun,
      {} as OpenSession,
    );
    requests.take(approval);
    await until('the deadline to run', () => waits.length > 0);
    requests[Symbol.dispose]();
    expect(waits.map(({ aborted }) => aborted)).toEqual([true]);
  });
});

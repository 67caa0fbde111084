import { beforeEach, describe, expect, it } from 'vitest';
import type { HostDecision } from '../../spec/host-request.js';
import type { ServedAsk, ServedPane } from '../../spec/served-pane.js';
import type { FollowedEvent } from '../session-transport.js';
import type { ServerConnection } from './server-connection.js';
import { SessionRequests } from './session-requests.js';
import { SharedConnection } from './shared-connection.js';

// Speaks a protocol of one notification (`said`), one request (`ask`) and its end (`settled`).
const way = {
  protocol: {
    readFrame: (method: string, { session, ...rest }: { readonly session: string }) => ({
      nativeSessionId: session,
      events: [],
      ...(method === 'settled' ? { settledRequest: (rest as { readonly id: number }).id } : rest),
    }),
    readRequest: ({ method, params }: ServedAsk) => {
      const { session, item } = params as { readonly session: string; readonly item: string };
      if (method !== 'ask') return undefined;
      return {
        nativeSessionId: session,
        nativeTurnId: 'turn',
        request: { type: 'approval', requestId: item, toolName: 't', input: {}, detail: item },
        answer: ({ decision }: HostDecision) => decision,
      };
    },
  },
} as unknown as ServedPane;

let sent: unknown[];
let receive: (message: unknown) => void;
let isUsed: boolean;
let shared: SharedConnection;

beforeEach(() => {
  sent = [];
  isUsed = false;
  let onClose = () => {};
  shared = new SharedConnection(
    way,
    {
      send: (text) => sent.push(JSON.parse(text)),
      onText: (listener) => {
        receive = (message) => listener(JSON.stringify(message));
      },
      onClose: (listener) => {
        onClose = listener;
      },
      close: () => onClose(),
      keepsProcess: () => {},
    },
    (used) => {
      isUsed = used;
    },
  );
});

describe('a session that the connection serves', () => {
  const opened = { nativeSessionId: 'one', activity: 'idle' } as const;
  const call = { method: 'resume', params: { session: 'one', model: 'm' } };

  it.each([
    ['its settings were changed', { isReset: true }],
    ['it was unloaded', { activity: 'unloaded' }],
  ])('is not taken for open once the server said that %s', (_what, said) => {
    const connection = shared.borrow();
    connection.keepServed(opened, call);
    receive({ method: 'said', params: { session: 'other', ...said } });
    receive({ method: 'said', params: { session: 'one', activity: 'busy' } });
    expect(connection.findServed('one', call)).toBe(opened);
    receive({ method: 'said', params: { session: 'one', ...said } });
    expect(connection.findServed('one', call)).toBeUndefined();
  });

  it('is not taken for what another config would make of it', () => {
    shared.borrow().keepServed(opened, call);
    const other = { ...call, params: { ...call.params, model: 'another' } };
    expect(shared.borrow().findServed('one', other)).toBeUndefined();
    expect(shared.borrow().findServed('one', call)).toBe(opened);
  });
});

describe('a connection that several sessions share', () => {
  it('tells each what is said of it alone', () => {
    const [one, other] = [hear('one'), hear('other')];

    receive({ method: 'said', params: { session: 'one', activity: 'busy' } });

    expect(one.frames).toMatchObject([{ activity: 'busy' }]);
    expect(other.frames).toEqual([]);
  });

  it('is closed for the one who closes it, and in use while another has it', async () => {
    const [one, other] = [shared.borrow(), shared.borrow()];
    one[Symbol.dispose]();

    await expect(one.call({ method: 'do', params: {} })).rejects.toMatchObject({ wasSent: false });
    const answer = other.call({ method: 'do', params: {} });
    receive({ id: 1, result: 'done' });
    expect(await answer).toBe('done');
    expect(isUsed).toBe(true);
    other[Symbol.dispose]();
    expect(isUsed).toBe(false);
  });

  it('is lost for all when it breaks', () => {
    const lost: string[] = [];
    for (const name of ['one', 'other']) shared.borrow().onClosed(() => lost.push(name));

    shared.close();

    expect(lost).toEqual(['one', 'other']);
  });
});

describe('a request of the server', () => {
  it('is told to the host, and settled by what the host decided', async () => {
    const { requests, events } = hear('one');
    ask(5, 'one', 'call');
    const answered = requests.answer('call', { decision: 'allow' });
    receive({ method: 'settled', params: { session: 'one', id: 5 } });

    expect(await answered).toBe('taken');
    expect(sent).toEqual([{ id: 5, result: 'allow' }]);
    expect(events).toMatchObject([
      { kind: 'request', request: { requestId: 'call' } },
      { kind: 'request_settled', requestId: 'call', by: 'host' },
    ]);
  });

  it('without a host is declined at once', () => {
    const { declined } = hear('one', { answersRequests: false });

    ask(5, 'one', 'call');

    expect(sent).toEqual([{ id: 5, result: 'deny' }]);
    expect(declined).toEqual(['call']);
  });

  it('of a session that nobody ever opened is declined at once', () => {
    ask(5, 'sub-agent', 'call');

    expect(sent).toEqual([{ id: 5, result: 'deny' }]);
  });

  it('that nobody can read is said to be unknown', () => {
    receive({ id: 5, method: 'other', params: {} });

    expect(sent).toMatchObject([{ id: 5, error: { code: -32601 } }]);
  });

  it('waits for whoever comes next, and comes again with the same id', () => {
    const first = hear('one');
    ask(5, 'one', 'call');
    first.connection[Symbol.dispose]();

    const next = hear('one');
    ask(5, 'one', 'call');
    next.requests.repeat();

    expect(sent).toEqual([]);
    expect(next.events.map((event) => event.kind === 'request' && event.request.requestId)).toEqual(
      ['call', 'call'],
    );
  });

  it('that comes before the session is listened to waits for that', () => {
    const connection = shared.borrow();
    connection.expect('one');
    ask(5, 'one', 'call');

    expect(hear('one').events).toMatchObject([{ kind: 'request' }]);
    expect(sent).toEqual([]);
  });

  it('answered in the pane was settled by a person, and is gone for the host', async () => {
    const { requests, events } = hear('one');
    ask(5, 'one', 'call');
    receive({ method: 'settled', params: { session: 'one', id: 5 } });

    expect(events.at(-1)).toMatchObject({ kind: 'request_settled', by: 'person' });
    expect(await requests.answer('call', { decision: 'allow' })).toBe('gone');
    expect(sent).toEqual([]);
  });

  it('that ended with its turn was settled by the interrupt, whatever was answered', async () => {
    const { requests, events } = hear('one');
    ask(5, 'one', 'call');
    const answered = requests.answer('call', { decision: 'allow' });
    requests.endTurn('turn');
    receive({ method: 'settled', params: { session: 'one', id: 5 } });

    expect(await answered).toBe('gone');
    expect(events.at(-1)).toMatchObject({ by: 'interrupt' });
  });

  it('is not answered by who has lost the session', async () => {
    const { requests } = hear('one', { isCurrent: false });
    ask(5, 'one', 'call');

    await expect(requests.answer('call', { decision: 'allow' })).rejects.toMatchObject({
      kind: 'session_busy',
    });
    expect(sent).toEqual([]);
  });

  it('whose connection breaks after the answer is gone, since it is asked again where it waits', async () => {
    const { requests } = hear('one');
    ask(5, 'one', 'call');
    const answered = requests.answer('call', { decision: 'allow' });

    shared.close();

    expect(await answered).toBe('gone');
  });
});

function ask(id: number, session: string, item: string): void {
  receive({ id, method: 'ask', params: { session, item } });
}

function hear(
  nativeSessionId: string,
  { answersRequests = true, isCurrent = true } = {},
): {
  readonly connection: ServerConnection;
  readonly requests: SessionRequests;
  readonly frames: unknown[];
  readonly events: FollowedEvent[];
  readonly declined: unknown[];
} {
  const frames: unknown[] = [];
  const events: FollowedEvent[] = [];
  const declined: unknown[] = [];
  const requests = new SessionRequests({
    answersRequests,
    fence: { token: 1, isCurrent: () => isCurrent },
    tell: (event) => events.push(event),
    tellDeclined: (event) => declined.push(event.type === 'waiting' ? event.detail : event),
  });
  const connection = shared.borrow();
  connection.onClosed(() => requests.lose());
  connection.listen({
    nativeSessionId,
    onFrame: (frame) => frames.push(frame),
    onRequest: (request) => requests.take(request),
    onSettled: (request) => requests.settle(request),
  });
  return { connection, requests, frames, events, declined };
}

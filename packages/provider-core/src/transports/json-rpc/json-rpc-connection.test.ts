import { describe, expect, it } from 'vitest';
import { JsonRpcConnection, type TextChannel } from './json-rpc-connection.js';
import { JsonRpcLost, JsonRpcRefusal } from './json-rpc-error.js';

const call = { method: 'do', params: { a: 1 } };

describe('a JSON-RPC connection', () => {
  it('gives each answer to the call it belongs to, in whatever order they come', async () => {
    const { channel, connection } = connect();
    const [one, two] = [connection.request(call), connection.request(call)];

    channel.receive({ id: 2, result: 'two' });
    channel.receive({ id: 1, result: 'one' });

    expect(await Promise.all([one, two])).toEqual(['one', 'two']);
  });

  it('rejects a refused call with the other side’s words', async () => {
    const { channel, connection } = connect();
    const answer = connection.request(call);

    channel.receive({ id: 1, error: { code: -32600, message: 'no' } });

    await expect(answer).rejects.toThrow(new JsonRpcRefusal('do', -32600, 'no'));
  });

  it('B90: settles every waiting call when the channel dies', async () => {
    const { channel, connection } = connect();
    const answers = [connection.request(call), connection.request(call)];

    channel.close();

    for (const answer of answers) {
      await expect(answer).rejects.toMatchObject({ why: 'closed', wasSent: true });
    }
    await expect(connection.request(call)).rejects.toMatchObject({ wasSent: false });
  });

  it('gives up at the deadline, and takes no late answer for another’s', async () => {
    const { channel, connection } = connect();

    await expect(connection.request(call, { deadlineMs: 1 })).rejects.toThrow(JsonRpcLost);
    channel.receive({ id: 1, result: 'late' });
    const next = connection.request(call);
    channel.receive({ id: 2, result: 'next' });

    expect(await next).toBe('next');
  });

  it('sends nothing when the guard throws', async () => {
    const { channel, connection } = connect();
    const guard = () => {
      throw new RangeError('fenced');
    };

    await expect(connection.request(call, { guard })).rejects.toThrow('fenced');
    expect(channel.sent).toEqual([]);
  });

  it('answers the other side’s requests, also those it does not know', () => {
    const { channel } = connect();

    channel.receive({ id: 7, method: 'ask', params: {} });
    channel.receive({ id: 'x', method: 'unheard', params: {} });

    expect(channel.sent).toEqual([
      { id: 7, result: 'no' },
      { id: 'x', error: { code: -32601, message: 'not supported by this client' } },
    ]);
  });

  it('passes notifications on, and no text that is none', () => {
    const { channel, notes } = connect();

    channel.receive({ method: 'note', params: { b: 2 } });
    channel.receiveText('not json');
    channel.receiveText('null');

    expect(notes).toEqual([['note', { b: 2 }]]);
  });
});

function connect() {
  const channel = new FakeChannel();
  const notes: unknown[] = [];
  const connection = new JsonRpcConnection(channel, {
    onNotification: (method, params) => notes.push([method, params]),
    onRequest: ({ method, reply }) => reply(method === 'ask' ? 'no' : undefined),
  });
  return { channel, connection, notes };
}

class FakeChannel implements TextChannel {
  readonly sent: unknown[] = [];
  receiveText: (text: string) => void = () => {};
  close: () => void = () => {};

  send(text: string): void {
    this.sent.push(JSON.parse(text));
  }

  onText(listener: (text: string) => void): void {
    this.receiveText = listener;
  }

  onClose(listener: () => void): void {
    this.close = listener;
  }

  receive(frame: unknown): void {
    this.receiveText(JSON.stringify(frame));
  }
}

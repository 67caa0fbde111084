import { beforeEach, describe, expect, it } from 'vitest';
import type { ServedPane } from '../../spec/served-pane.js';
import { systemClock } from '../../time/clock.js';
import { SharedConnection } from './shared-connection.js';
import { steerSession } from './steer-session.js';

// Every call is answered by `answers`, by its method; a frame is the frame itself.
const way = {
  protocol: {
    readFrame: (_method: string, frame: unknown) => frame,
    listTurns: () => ({ method: 'turns', params: {} }),
    readTurns: (turns: unknown) => turns,
    steer: () => ({ method: 'steer', params: {} }),
  },
} as unknown as ServedPane;

const RUNNING = [{ nativeTurnId: 'turn', isRunning: true, clientMessageIds: ['ours'] }];
const ENDED = { nativeTurnId: 'turn', isRunning: false };

interface Call {
  readonly id: number;
  readonly method: string;
}

let answers: Record<string, (call: Call) => void>;
let receive: (message: unknown) => void;
let shared: SharedConnection;

beforeEach(() => {
  let onClose = () => {};
  shared = new SharedConnection(
    way,
    {
      send: (text) => {
        const call: Call = JSON.parse(text);
        queueMicrotask(() => answers[call.method]?.(call));
      },
      onText: (listener) => {
        receive = (message) => listener(JSON.stringify(message));
      },
      onClose: (listener) => {
        onClose = listener;
      },
      close: () => onClose(),
      keepsProcess: () => {},
    },
    () => {},
  );
  answers = { turns: ({ id }) => receive({ id, result: RUNNING }) };
});

describe('a text for the running turn', () => {
  it('is accepted once the turn has taken it in', async () => {
    answers['steer'] = ({ id }) => {
      receive({ id, result: {} });
      tell({ events: [{ type: 'message_accepted', clientMessageId: 'steer' }] });
    };

    expect(await steer()).toMatchObject({ outcome: 'accepted' });
  });

  it('is refused where no turn runs, and nothing is sent', async () => {
    answers['turns'] = ({ id }) => receive({ id, result: [] });

    expect(await steer()).toMatchObject({ outcome: 'refused', detail: 'no turn runs' });
  });

  it('is refused in the words of the server', async () => {
    answers['steer'] = ({ id }) => receive({ id, error: { code: -32600, message: 'other turn' } });

    expect(await steer()).toEqual({ outcome: 'refused', detail: 'other turn' });
  });

  it('is refused when the turn ended without it and it stands nowhere', async () => {
    answers['steer'] = ({ id }) => endWithout(id, [{ ...ENDED, clientMessageIds: ['ours'] }]);

    expect(await steer()).toMatchObject({ outcome: 'refused' });
  });

  it('is accepted when the turn ended and holds it, though no frame said so', async () => {
    const turns = [{ ...ENDED, clientMessageIds: ['ours', 'steer'] }];
    answers['steer'] = ({ id }) => endWithout(id, turns);

    expect(await steer()).toMatchObject({ outcome: 'accepted' });
  });

  it('is unknown when the connection was lost after it was sent', async () => {
    answers['steer'] = () => shared.close();

    expect(await steer()).toMatchObject({ outcome: 'unknown' });
  });

  it('is unknown at the deadline, while the server has it and the turn not yet', async () => {
    answers['steer'] = ({ id }) => receive({ id, result: {} });

    expect(await steer(50)).toMatchObject({ outcome: 'unknown' });
  });

  it('is not sent by who has lost the session', async () => {
    await expect(steer(1_000, false)).rejects.toMatchObject({ kind: 'session_busy' });
  });
});

function endWithout(id: number, turns: unknown): void {
  answers['turns'] = (call) => receive({ id: call.id, result: turns });
  receive({ id, result: {} });
  tell({ events: [], endedTurnId: 'turn' });
}

function tell(frame: Readonly<Record<string, unknown>>): void {
  receive({ method: 'frame', params: { nativeSessionId: 'session', ...frame } });
}

function steer(deadlineMs = 5_000, isCurrent = true) {
  return steerSession({
    way,
    connection: shared.borrow(),
    nativeSessionId: 'session',
    fence: { token: 1, isCurrent: () => isCurrent },
    clock: systemClock,
    request: { text: 'left', steerId: 'steer', deadlineMs, signal: new AbortController().signal },
  });
}

import type {
  SessionDelivery,
  SessionMessage,
  SessionTurns,
} from '../../executions/session-turns.js';

/** Sessions in memory that keep the promise of the port: the same turn id is taken in once. */
export interface RecordingSessions extends SessionTurns {
  /** Every call. */
  readonly sent: SessionMessage[];
  /** What the sessions took in, by turn id. */
  readonly taken: ReadonlyMap<string, string>;
  /** Said or thrown by the next calls, one each; then every message is taken in. */
  readonly script: (SessionDelivery | Error)[];
}

export function createRecordingSessions(): RecordingSessions {
  const sent: SessionMessage[] = [];
  const taken = new Map<string, string>();
  const script: (SessionDelivery | Error)[] = [];
  return {
    sent,
    taken,
    script,
    send: async (message) => {
      sent.push(message);
      const next = script.shift();
      if (next instanceof Error) throw next;
      taken.set(message.turnId, message.text);
      return next ?? { state: 'turn_completed', result: resultOf(message.turnId) };
    },
  };
}

function resultOf(turnId: string) {
  const provider = { provider: 'memory', transport: 'tmux' } as never;
  const identity = { agentId: 'a', sessionId: 's', ownerId: 'o', scope: 'chat', correlationId: 'c' };
  const handle = { ...identity, provider };
  return { answer: 'noted', handle, turnId, stopReason: 'end_turn', recovered: false };
}

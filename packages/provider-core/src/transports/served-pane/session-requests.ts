import { SessionBusyError, TimedOutError } from '../../errors/turn-error.js';
import type { DecidedBy, HostDecision } from '../../spec/host-request.js';
import type { RecordEvent } from '../../spec/record-event.js';
import type { FollowedEvent, LeaseFence } from '../session-transport.js';
import { withDeadline } from '../tmux/deadline.js';
import type { PendingRequest } from './shared-connection.js';

interface SessionRequestsOptions {
  /** Whether the host decides; else the policy does at once, and nothing waits. */
  readonly answersRequests: boolean;
  readonly fence: LeaseFence;
  /** Tells whoever follows; lost on nobody, since what waits is told again. */
  readonly tell: (event: FollowedEvent) => void;
  readonly tellDeclined: (event: RecordEvent) => void;
}

interface AskedRequest {
  readonly pending: PendingRequest;
  isAnswered: boolean;
  /** Whoever answered and waits for what becomes of it. */
  onOutcome?: (outcome: 'taken' | 'gone') => void;
}

const ANSWER_DEADLINE_MS = 10_000;

/** What the server asks in one session: told, answered, and known to be settled by whomever. */
export class SessionRequests {
  readonly #options: SessionRequestsOptions;
  readonly #asked = new Map<string, AskedRequest>();
  readonly #endedTurns = new Set<string>();
  #isInterrupted = false;

  constructor(options: SessionRequestsOptions) {
    this.#options = options;
  }

  take(pending: PendingRequest): void {
    const { answersRequests, tell } = this.#options;
    const { request } = pending;
    if (!answersRequests) {
      this.#decline(pending);
      return;
    }
    // It comes again on every resume.
    if (this.#asked.has(request.requestId)) return;
    this.#isInterrupted = false;
    this.#asked.set(request.requestId, { pending, isAnswered: false });
    tell({ kind: 'request', request });
  }

  /** Tells a new follower what waits. */
  repeat(): void {
    for (const { pending } of this.#asked.values()) {
      this.#options.tell({ kind: 'request', request: pending.request });
    }
  }

  settle({ request: { requestId }, nativeTurnId }: PendingRequest): void {
    const asked = this.#asked.get(requestId);
    if (!asked) return;
    this.#asked.delete(requestId);
    const by = this.#judge(asked, nativeTurnId);
    asked.onOutcome?.(by === 'host' ? 'taken' : 'gone');
    this.#options.tell({ kind: 'request_settled', requestId, by });
  }

  /** The turn's end settles what it asked; said before the server says so itself. */
  endTurn(nativeTurnId: string): void {
    this.#endedTurns.add(nativeTurnId);
  }

  interrupt(): void {
    this.#isInterrupted = true;
  }

  /** The connection is gone: whether an answer arrived is seen by whether it is asked again. */
  lose(): void {
    for (const { onOutcome } of this.#asked.values()) onOutcome?.('gone');
    this.#asked.clear();
  }

  async answer(requestId: string, decision: HostDecision): Promise<'taken' | 'gone'> {
    const asked = this.#asked.get(requestId);
    if (!asked || asked.isAnswered) return 'gone';
    if (!this.#options.fence.isCurrent()) throw new SessionBusyError({ kind: 'ours' });
    asked.isAnswered = true;
    const outcome = new Promise<'taken' | 'gone'>((resolve) => {
      asked.onOutcome = resolve;
    });
    asked.pending.reply(asked.pending.answer(decision));
    return withDeadline(outcome, {
      deadlineMs: ANSWER_DEADLINE_MS,
      missed: () =>
        new TimedOutError({
          awaiting: 'the server to take the answer',
          limitMs: ANSWER_DEADLINE_MS,
          layer: 'served-pane',
        }),
    });
  }

  #decline({ request, answer, reply }: PendingRequest): void {
    reply(answer({ decision: 'deny' }));
    const on = request.type === 'approval' ? 'permission' : 'question';
    this.#options.tellDeclined({ type: 'waiting', on, detail: request.detail });
  }

  /** The server says that it is settled and not by whom: a person is who else could have. */
  #judge({ isAnswered }: AskedRequest, nativeTurnId: string | undefined): DecidedBy {
    const hasEnded = nativeTurnId !== undefined && this.#endedTurns.has(nativeTurnId);
    if (isAnswered && !hasEnded) return 'host';
    return hasEnded || this.#isInterrupted ? 'interrupt' : 'person';
  }
}

import type { DecidedBy, HostDecision, HostRequest } from '../spec/host-request.js';
import type { OpenSession } from '../transports/session-transport.js';
import type { TurnRun } from './turn-run.js';

/** The requests of one open session that wait for the host: each is put to the handler once and always settled. */
export class HostRequests {
  readonly #run: TurnRun;
  readonly #open: OpenSession;
  readonly #waiting = new Map<string, AbortController>();
  readonly #told = new Set<string>();
  /** Decisions on their way to the provider. */
  readonly #giving = new Map<string, Given>();

  constructor(run: TurnRun, open: OpenSession) {
    this.#run = run;
    this.#open = open;
  }

  /** Whether something waits for the host now: then silence is no sign of a dead provider. */
  get isWaiting(): boolean {
    return this.#waiting.size > 0;
  }

  /** A request the provider told of; told again, it is the same one. */
  take(request: HostRequest): void {
    if (this.#told.has(request.requestId)) return;
    this.#told.add(request.requestId);
    this.#run.emit({
      type: 'approval_requested',
      detail: request.detail,
      requestId: request.requestId,
      ...(request.type === 'approval' ? { toolName: request.toolName } : {}),
    });
    const settled = new AbortController();
    this.#waiting.set(request.requestId, settled);
    this.#decide(request, settled)
      .catch((error: unknown) => {
        this.#run.session.logger.warn({ err: error }, 'request not answered');
      })
      .finally(() => this.#waiting.delete(request.requestId));
  }

  /** The provider says that a request is settled without us. */
  settled(requestId: string, by: DecidedBy): void {
    const waiting = this.#waiting.get(requestId);
    if (!waiting || waiting.signal.aborted) return;
    waiting.abort();
    this.#giving.delete(requestId);
    // What a person chose is the CLI's affair: the tool runs, or does not. Nobody else allows anything.
    this.#emitSettled(requestId, by === 'person' ? 'allow' : 'deny', by);
  }

  /** The turn was interrupted, and with it ended whatever it waited for. */
  interrupted(): void {
    for (const requestId of [...this.#waiting.keys()]) this.settled(requestId, 'interrupt');
  }

  /** The turn is over: a decision that was on its way was heard, or it would not be. */
  finish(): void {
    for (const [requestId, { decision, by }] of this.#giving) {
      this.#emitSettled(requestId, decision.decision, by);
    }
    this.#giving.clear();
  }

  /** Lets go: handlers are told, nothing is answered. A request that still waits is told again to whoever follows. */
  [Symbol.dispose](): void {
    for (const waiting of this.#waiting.values()) waiting.abort();
  }

  async #decide(request: HostRequest, settled: AbortController): Promise<void> {
    const { requestId } = request;
    const given = await this.#ask(request, settled);
    if (settled.signal.aborted) return;
    this.#giving.set(requestId, given);
    const taken = await this.#open.answerRequest?.(requestId, given.decision);
    if (!this.#giving.delete(requestId) || settled.signal.aborted) return;
    settled.abort();
    // Gone: somebody else was first, and the provider tells who.
    if (taken === 'taken') this.#emitSettled(requestId, given.decision.decision, given.by);
  }

  /** The handler's decision; deny when it takes too long, throws, or gives what is none. */
  async #ask(request: HostRequest, settled: AbortController): Promise<Given> {
    const { onApproval, limits, clock } = this.#run.options;
    if (!onApproval) return { decision: { decision: 'deny' }, by: 'policy' };
    const isLate = new AbortController();
    // Nobody waits for a request that was settled otherwise: a handler that never answers must not keep a service alive.
    const over = AbortSignal.any([isLate.signal, settled.signal]);
    const deadline = clock
      .sleep(limits.approvalMs, over)
      .then((): 'late' => 'late')
      .catch((): 'late' => 'late');
    const handling = Promise.resolve()
      .then(() => onApproval(request, { signal: settled.signal }))
      .catch((error: unknown) => this.#notice(`onApproval failed: ${describe(error)}`));
    try {
      const given = await Promise.race([handling, deadline]);
      if (given === 'late') {
        const message = 'Nobody answered in time.';
        return { decision: { decision: 'deny', message }, by: 'deadline' };
      }
      if (isDecisionFor(request, given)) return { decision: given, by: 'host' };
      if (given !== undefined) this.#notice('onApproval gave no decision that fits the request');
      return { decision: { decision: 'deny' }, by: 'policy' };
    } finally {
      isLate.abort();
    }
  }

  #notice(text: string): undefined {
    this.#run.emit({ type: 'notice', text: `${text}; it was denied.` });
  }

  #emitSettled(requestId: string, decision: HostDecision['decision'], by: DecidedBy): void {
    this.#run.emit({ type: 'approval_settled', requestId, decision, by });
  }
}

/** What is answered, and who decided it. */
interface Given {
  readonly decision: HostDecision;
  readonly by: DecidedBy;
}

/** A question takes an answer or deny, an approval allow or deny. */
function isDecisionFor(request: HostRequest, given: unknown): given is HostDecision {
  if (typeof given !== 'object' || given === null || !('decision' in given)) return false;
  if (given.decision === 'deny') return true;
  if (request.type === 'approval') return given.decision === 'allow';
  return (
    given.decision === 'answer' &&
    'answers' in given &&
    typeof given.answers === 'object' &&
    given.answers !== null
  );
}

function describe(error: unknown): string {
  return error instanceof Error ? error.name : typeof error;
}

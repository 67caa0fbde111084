import {
  type AgentTurn,
  isoInstant,
  type Lease,
  SessionBusyError,
  systemClock,
} from '@holdfast/agent';
import { keys } from '../persistence/keys.js';
import type { ContinuationState, PhaseRecord } from '../workflow/continuation-state.js';
import { writeContinuationState } from '../workflow/continuation-state-file.js';
import { type ExecutionLog, openExecutionLog } from '../workflow/execution-log.js';
import type { WorkflowEventBody } from '../workflow/workflow-event.js';
import type { ExecutionContext } from './execution-context.js';
import { type ExecutionKey, executionIdOf } from './execution-key.js';
import { findState } from './execution-state.js';

/** What a write makes of the state. `at` is its instant. */
export type StateChange = (state: ContinuationState, at: string) => ContinuationState;

interface Held {
  readonly lease: Lease;
  readonly owner: PhaseRecord['lease'];
  readonly log: ExecutionLog;
}

/**
 * One execution in the hands of whoever has its lease: the newest state, and the only way to change it. Writes are
 * fenced by the lease and stand one after the other, each whole.
 */
export class LiveExecution implements AsyncDisposable {
  readonly key: ExecutionKey;
  /** The turn that runs in the session now. */
  turn: AgentTurn | undefined;
  readonly #context: ExecutionContext;
  readonly #letGo: AbortSignal | undefined;
  #held: Held | undefined;
  #state: ContinuationState;
  #notice: Disposable | undefined;
  #writes: Promise<unknown> = Promise.resolve();

  constructor(context: ExecutionContext, key: ExecutionKey, { taken, letGo }: FirstTaken) {
    this.#context = context;
    this.key = key;
    this.#letGo = letGo;
    this.#state = taken.state;
    this.#take(taken);
  }

  get state(): ContinuationState {
    return this.#state;
  }

  get executionId(): string {
    return this.#state.executionId;
  }

  get log(): ExecutionLog {
    return this.#get().log;
  }

  /** Who drives it, as it stands in a phase. */
  get owner(): PhaseRecord['lease'] {
    return this.#get().owner;
  }

  /** False as soon as the lease is another's. */
  get isCurrent(): boolean {
    return this.#held?.lease.isCurrent() ?? false;
  }

  /** One write of the whole state, then the events that tell of it. */
  async write(change: StateChange, events: readonly WorkflowEventBody[] = []): Promise<void> {
    const { store, clock } = this.#context;
    const written = this.#writes.then(async () => {
      const { lease, log } = this.#get();
      const at = isoInstant(clock);
      const next = { ...change(this.#state, at), updatedAt: at };
      await writeContinuationState(store, this.key, next, lease);
      this.#state = next;
      for (const event of events) await log.append(event);
    });
    this.#writes = written.catch(() => {});
    await written;
  }

  /** Waits for something without the lease, so that meanwhile others may send into the session; then reads the state anew. */
  async outside<Value>(body: () => Promise<Value>): Promise<Value> {
    await this.#release();
    try {
      return await body();
    } finally {
      const taken = await this.#takeBack();
      if (taken) this.#take(taken);
    }
  }

  /** As long as a turn of somebody else's lasts; once we are to let go, only for a moment. */
  async #takeBack(): Promise<Taken | undefined> {
    const signal = this.#letGo;
    try {
      return await takeExecution(this.#context, this.key, { whenBusy: 'wait', signal });
    } catch (error) {
      if (!signal?.aborted) throw error;
      return await takeExecution(this.#context, this.key);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#release();
  }

  #take(taken: Taken): void {
    this.#state = taken.state;
    this.#held = taken;
    this.#notice = this.#context.notices.open(executionIdOf(this.key), {
      turn: () => this.turn,
      tell: (event) => this.log.append(event),
    });
  }

  #get(): Held {
    if (!this.#held) throw new SessionBusyError({ kind: 'ours' });
    return this.#held;
  }

  async #release(): Promise<void> {
    await this.#writes;
    const held = this.#held;
    this.#held = undefined;
    this.#notice?.[Symbol.dispose]();
    await held?.lease.release();
  }
}

interface FirstTaken {
  readonly taken: Taken;
  readonly letGo: AbortSignal | undefined;
}

/** An execution's lease, with what stands on disk. */
interface Taken extends Held {
  readonly state: ContinuationState;
}

/** How long somebody who sends into the session is waited for, when asked for no longer. */
const SHORT_WAIT_MS = 2_000;
const LOOK_MS = 50;

interface OpenOptions {
  /** `wait` as long as it takes; a short while when absent. */
  readonly whenBusy?: 'wait' | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Aborts when whoever opens it is to let go of it. */
  readonly letGo?: AbortSignal | undefined;
}

/** Takes an execution; `busy` where a living owner has it, `absent` where there is none. */
export async function openExecution(
  context: ExecutionContext,
  key: ExecutionKey,
  options: OpenOptions = {},
): Promise<LiveExecution | 'busy' | 'absent'> {
  const taken = await takeExecution(context, key, options);
  if (taken) return new LiveExecution(context, key, { taken, letGo: options.letGo });
  return (await findState(context.store, key)) ? 'busy' : 'absent';
}

async function takeExecution(
  { store, clock }: ExecutionContext,
  key: ExecutionKey,
  { whenBusy, signal }: OpenOptions = {},
): Promise<Taken | undefined> {
  const place = keys.executionLease(key);
  const end = systemClock.monotonicMs() + SHORT_WAIT_MS;
  for (;;) {
    const { lease, heldBy } = await store.acquire(place, { signal });
    if (lease) return await openHeld({ store, clock }, key, lease);
    if (whenBusy !== 'wait' && systemClock.monotonicMs() >= end) return undefined;
    if (!heldBy) throw new Error('unreachable: a lease is held or taken');
    await systemClock.sleep(LOOK_MS, signal);
  }
}

async function openHeld(
  { store, clock }: Pick<ExecutionContext, 'store' | 'clock'>,
  key: ExecutionKey,
  lease: Lease,
): Promise<Taken | undefined> {
  try {
    const state = await findState(store, key);
    if (state) {
      const { owner } = await store
        .observe(keys.executionLease(key))
        .then((seen) => (seen.state === 'free' ? { owner: undefined } : seen));
      const log = await openExecutionLog({ store, key, lease, clock, state });
      return { state, lease, log, owner: owner && { ...pickOwner(owner), token: lease.token } };
    }
  } catch (error) {
    await lease.release();
    throw error;
  }
  await lease.release();
  return undefined;
}

function pickOwner({
  pid,
  hostId,
  since,
}: NonNullable<PhaseRecord['lease']> | Omit<NonNullable<PhaseRecord['lease']>, 'token'>) {
  return { pid, hostId, since };
}

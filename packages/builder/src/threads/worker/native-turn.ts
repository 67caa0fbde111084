import { randomUUID } from 'node:crypto';
import {
  type Agent,
  type AgentSessionHandle,
  type AgentTurn,
  type AgentTurnEvent,
  type AgentTurnResult,
  nativeIdOf,
} from '@holdfast/agent';
import type { ValidationEvidence } from '../coding-job.js';
import { encodeAdapterState } from './adapter-state.wire.js';
import type { CodingSession } from './coding-session.js';
import type { ValidatedJob } from './job-run.js';
import type { JobThread } from './job-thread.js';

/** A turn on its way, and how far its thread was told. */
export interface NativeTurn {
  readonly turnId: string;
  /** Whether the thread was claimed: from then on nothing is as it was. */
  readonly isClaimed: () => boolean;
  /** Settles once the turn is over and everything of it was told to the thread. */
  readonly result: Promise<AgentTurnResult>;
  /** The commands that the CLI told with their exit status. */
  readonly validationEvidence: () => readonly ValidationEvidence[];
}

/** What a turn is run with. */
export interface NativeTurnRequest {
  readonly job: ValidatedJob;
  readonly thread: JobThread;
  readonly session: CodingSession;
  readonly agent: Agent;
  readonly message: string;
}

/** Sends the message into the thread's conversation, or begins it; the claim is made right before the first native change. */
export function beginNativeTurn(request: NativeTurnRequest): NativeTurn {
  const { job, agent, session, message } = request;
  const turnId = randomUUID();
  const notes = new TurnNotes(request, turnId);
  const options = {
    turnId,
    signal: job.signal,
    onBeforeNativeChange: ({ handle }: { readonly handle?: AgentSessionHandle | undefined }) =>
      notes.claim(handle),
  };
  const turn = session.kept
    ? agent.continueAgentSession(session.kept.handle, message, options)
    : agent.askWithHistory([{ role: 'user', content: message }], options);
  return {
    turnId,
    isClaimed: () => notes.isClaimed,
    result: follow(turn, notes),
    validationEvidence: () => notes.evidence,
  };
}

async function follow(turn: AgentTurn, notes: TurnNotes): Promise<AgentTurnResult> {
  const stop = () => void turn.interrupt();
  const named = turn.handle.then(
    (handle) => notes.guard(() => notes.native(handle), stop),
    () => {},
  );
  const events = Promise.all([named, takeEvents(turn, notes, stop)]);
  try {
    const result = await turn;
    await events;
    await notes.guard(() => notes.submitted(result.handle), stop);
    notes.throwIfFailed();
    return result;
  } catch (error) {
    await events;
    notes.throwIfFailed();
    throw error;
  }
}

/** Ends with the turn; how that ended is the turn's own to say. */
async function takeEvents(turn: AgentTurn, notes: TurnNotes, stop: () => void): Promise<void> {
  try {
    for await (const event of turn.events()) {
      await notes.guard(() => notes.take(event, turn), stop);
    }
  } catch {
    // The same error rejects the turn.
  }
}

const ALIVE_EVERY_MS = 1_000;

/** How many commands of a turn are kept as evidence, and how many characters of each. */
const MAX_EVIDENCE = 200;
const MAX_COMMAND = 2_000;
/** Of all commands together, as JSON: an outcome and the review of it each go into one frame. */
const MAX_EVIDENCE_BYTES = 128 * 1024;

/** Tells the thread what becomes known of its turn, each thing once and in its order. */
class TurnNotes {
  readonly evidence: ValidationEvidence[] = [];
  readonly #request: NativeTurnRequest;
  readonly #turnId: string;
  #isClaimed = false;
  #native: Promise<void> | undefined;
  #submitted: Promise<void> | undefined;
  #failure: { readonly error: unknown } | undefined;
  #evidenceBytes = 0;
  #aliveAt = Number.NEGATIVE_INFINITY;

  constructor(request: NativeTurnRequest, turnId: string) {
    this.#request = request;
    this.#turnId = turnId;
  }

  get isClaimed(): boolean {
    return this.#isClaimed;
  }

  /** What could not be told ends the turn: nothing may go on that its thread does not know of. */
  async guard(note: () => Promise<void>, stop: () => void): Promise<void> {
    if (this.#failure) return;
    try {
      await note();
    } catch (error) {
      this.#failure = { error };
      stop();
    }
  }

  throwIfFailed(): void {
    if (this.#failure) throw this.#failure.error;
  }

  /** A message that was lost on its way is sent again under the same claim. */
  async claim(handle: AgentSessionHandle | undefined): Promise<void> {
    if (this.#isClaimed) return;
    const { job, thread } = this.#request;
    try {
      job.enter('claim');
      job.signal.throwIfAborted();
      await thread.claim(this.#turnId);
      this.#isClaimed = true;
      job.enter('start_native');
      if (handle) await this.native(handle);
    } catch (error) {
      this.#failure = { error };
      throw error;
    }
  }

  /** Before the claim nothing is told: the claim's own handle is the same. */
  async native(handle: AgentSessionHandle): Promise<void> {
    if (!this.#isClaimed) return;
    this.#native ??= this.#noteNative(handle);
    await this.#native;
  }

  async submitted(handle: AgentSessionHandle): Promise<void> {
    await this.native(handle);
    this.#submitted ??= this.#request.thread.noteTurn(this.#turnId);
    await this.#submitted;
  }

  async take(event: AgentTurnEvent, turn: AgentTurn): Promise<void> {
    this.#tellAlive();
    if (event.type === 'running') await this.submitted(await turn.handle);
    if (event.type === 'command_finished') this.#noteCommand(event);
    if (event.type === 'usage') {
      const usage = JSON.parse(JSON.stringify(event.usage));
      this.#request.job.report({ type: 'usage', usage });
    }
  }

  async #noteNative(handle: AgentSessionHandle): Promise<void> {
    const { job, thread, session } = this.#request;
    const nativeId = nativeIdOf(handle);
    if (nativeId === undefined) return;
    await thread.noteNative(nativeId, encodeAdapterState({ handle, model: session.model }));
    job.enter('run_turn');
  }

  #noteCommand({ command, exitCode }: Extract<AgentTurnEvent, { type: 'command_finished' }>): void {
    // Cut, as what a CLI told may be, it could end with half a character, and with that nothing is kept.
    const told = command.slice(0, MAX_COMMAND).toWellFormed();
    this.#evidenceBytes += Buffer.byteLength(JSON.stringify(told));
    if (this.evidence.length === MAX_EVIDENCE || this.#evidenceBytes > MAX_EVIDENCE_BYTES) return;
    const status = exitCode === 0 ? 'passed' : 'failed';
    this.evidence.push({ command: [told], status, exitCode });
  }

  #tellAlive(): void {
    const { clock, report } = this.#request.job;
    const now = clock.monotonicMs();
    if (now - this.#aliveAt < ALIVE_EVERY_MS) return;
    this.#aliveAt = now;
    report({ type: 'alive' });
  }
}

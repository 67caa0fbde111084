import { randomUUID } from 'node:crypto';
import {
  type BeforeNativeChange,
  type CodingAgentTurn,
  type CodingProviderSessionHandle,
  type Message,
  NativeHistoryMissingError,
  NonContinuableError,
  SessionBusyError,
  StaleHandleError,
  type SteerResult,
  TurnConflictError,
  type TurnEvent,
  type TurnEventBody,
  TurnInterruptedError,
  type TurnResult,
} from '@holdfast/provider-core';
import type { ProviderSessions } from '../provider-sessions.js';

type StartOptions = Parameters<ProviderSessions['start']>[0];
type TurnOptions = Omit<StartOptions, 'provider' | 'transport' | 'config' | 'message'>;

interface MemoryTurn {
  readonly message: string;
  accepted: boolean;
  failed: boolean;
  answer?: string;
}

interface MemorySession {
  readonly nativeId: string;
  readonly workingDir: string;
  readonly messages: { role: 'user' | 'assistant'; text: string }[];
  readonly turns: Map<string, MemoryTurn>;
  acknowledged: boolean;
  status: string;
  revision: number;
  lastTurnId?: string;
  terminal: number;
}

/** What the providers know; it survives every death of ours, and a copy of it is a moment in time. */
export interface MemoryWorld {
  readonly sessions: Map<string, MemorySession>;
  readonly starts: Map<string, string>;
}

function createWorld(): MemoryWorld {
  return { sessions: new Map(), starts: new Map() };
}

export type Step = 'prepared' | 'accepted' | 'ended';

/** Provider sessions that live in memory and keep the contract of a turn: one message once, by turn id. */
export class MemorySessions implements ProviderSessions {
  readonly sent: { kind: 'start' | 'continue'; turnId: string; text: string }[] = [];
  readonly running = new Set<string>();
  /** Awaited at each step; a test may look, throw, or never resolve. */
  onStep: (step: Step, turnId: string) => void | Promise<void> = () => {};
  extraEvents: readonly TurnEventBody[] = [];
  /** What becomes of a text for a running turn; what is accepted stands in the session as a user message. */
  onSteer: (text: string) => SteerResult | Promise<SteerResult> = () => ({
    outcome: 'refused',
    detail: 'memory takes nothing in',
  });
  /** What a session's terminal shows. */
  screen: string | undefined;

  constructor(
    readonly world: MemoryWorld = createWorld(),
    readonly answer: (text: string) => string = (text) => `answer to ${text}`,
  ) {}

  readonly start = (request: StartOptions): CodingAgentTurn => {
    const { provider, config, message, turnId = randomUUID() } = request;
    this.sent.push({ kind: 'start', turnId, text: textOf(message) });
    const nativeId = this.world.starts.get(turnId) ?? randomUUID();
    this.world.starts.set(turnId, nativeId);
    const session = this.world.sessions.get(nativeId) ?? newSession(nativeId, config.workingDir);
    this.world.sessions.set(nativeId, session);
    return this.#turn({ provider, session, text: textOf(message), turnId, options: request });
  };

  readonly continue: ProviderSessions['continue'] = (handle, message, options) => {
    const turnId = options.turnId ?? randomUUID();
    const text = textOf(message);
    this.sent.push({ kind: 'continue', turnId, text });
    const session = this.world.sessions.get(handle.nativeSessionId ?? '');
    return this.#turn({ provider: handle.provider, session, text, turnId, options, handle });
  };

  readonly inspect: ProviderSessions['inspect'] = async (handle) => ({
    state: this.world.sessions.has(handle.nativeSessionId ?? '') ? 'present' : 'absent',
    process: 'alive',
    provisional: false,
    handle,
  });

  readonly close: ProviderSessions['close'] = async (handle) => {
    const session = this.world.sessions.get(handle.nativeSessionId ?? '');
    if (session) {
      session.status = 'closed';
      session.revision += 1;
    }
    return {
      handle: session ? handleOf(handle.provider, session) : handle,
      endedProcesses: 1,
      archived: false,
    };
  };

  readonly captureTerminal: ProviderSessions['captureTerminal'] = async (handle) => {
    const session = this.world.sessions.get(handle.nativeSessionId ?? '');
    if (!session || this.screen === undefined) return undefined;
    return { terminalId: `${session.nativeId}-${session.terminal}`, text: this.screen };
  };

  readonly checkConfig: ProviderSessions['checkConfig'] = (handle, config) => {
    if (handle.workingDir !== undefined && handle.workingDir !== config.workingDir) {
      throw new StaleHandleError(handle.provider, 'working_dir');
    }
  };

  /** Every message any session holds, the user's alone. */
  userMessages(): string[] {
    return [...this.world.sessions.values()].flatMap(({ messages }) =>
      messages.filter(({ role }) => role === 'user').map(({ text }) => text),
    );
  }

  #turn(request: RunRequest): CodingAgentTurn {
    const { turnId } = request;
    const events: TurnEvent[] = [];
    let wake = () => {};
    let changed = new Promise<void>((resolve) => (wake = resolve));
    let isOver = false;
    const notify = () => {
      wake();
      changed = new Promise<void>((resolve) => (wake = resolve));
    };
    const emit = (body: TurnEventBody) => {
      events.push({ ...body, turnId, sequence: events.length, at: `event-${turnId}-${events.length}` });
      notify();
    };
    const interrupts = new AbortController();
    request.options.signal?.addEventListener('abort', () => interrupts.abort());
    let publish = (_handle: CodingProviderSessionHandle) => {};
    let refuse = (_error: unknown) => {};
    const handle = new Promise<CodingProviderSessionHandle>((resolve, reject) => {
      publish = resolve;
      refuse = reject;
    });
    handle.catch(() => {});
    const result = this.#run(request, emit, (known) => publish(known), interrupts.signal).then(
      (value) => {
        publish(value.handle);
        emit({ type: 'completed', handle: value.handle });
        return value;
      },
      (error) => {
        refuse(error);
        emit({ type: 'failed', kind: error.kind ?? 'unknown', message: String(error.message) });
        throw error;
      },
    );
    result
      .finally(() => {
        isOver = true;
        notify();
      })
      .catch(() => {});
    const iterate = async function* ({ from = 0 }: { readonly from?: number } = {}) {
      for (let index = from; ; index += 1) {
        while (index >= events.length && !isOver) await changed;
        const event = events[index];
        if (!event) break;
        yield event;
      }
      await result;
    };
    return {
      turnId,
      handle,
      events: iterate,
      [Symbol.asyncIterator]: () => iterate()[Symbol.asyncIterator](),
      then: (onFulfilled, onRejected) => result.then(onFulfilled, onRejected),
      catch: (onRejected) => result.catch(onRejected),
      finally: (onSettled) => result.finally(onSettled),
      steer: async (text) => {
        const result = await this.onSteer(text);
        if (result.outcome === 'accepted') request.session?.messages.push({ role: 'user', text });
        return result;
      },
      interrupt: async () => {
        interrupts.abort();
        await Promise.allSettled([result]);
      },
    };
  }

  async #run(
    { provider, session, text, turnId, options, handle }: RunRequest,
    emit: (body: TurnEventBody) => void,
    publish: (handle: CodingProviderSessionHandle) => void,
    signal: AbortSignal,
  ): Promise<TurnResult> {
    if (!session) throw new NativeHistoryMissingError(handle?.nativeSessionId ?? '?', 'unknown');
    const fail = (error: { handle?: CodingProviderSessionHandle; turnId?: string }) =>
      Object.assign(error, { handle: handleOf(provider, session), turnId });
    if (handle && !session.acknowledged) {
      throw fail(new NonContinuableError(provider, 'acknowledged_turn'));
    }
    const known = session.turns.get(turnId);
    if (known && known.message !== text) throw new TurnConflictError(turnId);
    if (known?.answer !== undefined) return this.#result(provider, session, turnId, known.answer);
    if (this.running.has(session.nativeId)) {
      throw fail(new SessionBusyError({ kind: 'ours', pid: 1 }));
    }
    this.running.add(session.nativeId);
    try {
      publish(handleOf(provider, session));
      const turn = known ?? { message: text, accepted: false, failed: false };
      session.turns.set(turnId, turn);
      if (!turn.accepted) {
        await options.onBeforeNativeChange?.({
          turnId,
          handle: handleOf(provider, session),
        } satisfies BeforeNativeChange);
        await this.onStep('prepared', turnId);
        if (signal.aborted) throw interrupted(false);
        emit({ type: 'running' });
        session.messages.push({ role: 'user', text });
        turn.accepted = true;
        session.acknowledged = true;
        session.lastTurnId = turnId;
        session.revision += 1;
      } else if (turn.failed) {
        session.messages.push({ role: 'user', text: 'Continue.' });
      }
      if (session.terminal === 0) session.terminal = 1;
      emit({
        type: 'terminal_opened',
        terminalId: `${session.nativeId}-${session.terminal}`,
        label: 'pane',
      });
      for (const body of this.extraEvents) emit(body);
      await this.onStep('accepted', turnId);
      if (signal.aborted) throw interrupted(true);
      turn.answer = this.answer(text);
      session.messages.push({ role: 'assistant', text: turn.answer });
      session.revision += 1;
      await this.onStep('ended', turnId);
      return this.#result(provider, session, turnId, turn.answer);
    } catch (error) {
      const turn = session.turns.get(turnId);
      if (turn?.accepted) turn.failed = true;
      throw typeof error === 'object' && error !== null ? fail(error) : error;
    } finally {
      this.running.delete(session.nativeId);
    }
  }

  #result(provider: string, session: MemorySession, turnId: string, answer: string): TurnResult {
    return {
      answer,
      handle: handleOf(provider, session),
      turnId,
      usage: { inputTokens: 3, outputTokens: 2 },
      stopReason: 'end_turn',
      recovered: false,
    };
  }
}

interface RunRequest {
  readonly provider: string;
  readonly session: MemorySession | undefined;
  readonly text: string;
  readonly turnId: string;
  readonly options: TurnOptions;
  readonly handle?: CodingProviderSessionHandle;
}

function newSession(nativeId: string, workingDir: string): MemorySession {
  return {
    nativeId,
    workingDir,
    messages: [],
    turns: new Map(),
    acknowledged: false,
    status: 'idle',
    revision: 1,
    terminal: 0,
  };
}

function handleOf(provider: string, session: MemorySession): CodingProviderSessionHandle {
  return {
    provider,
    transport: 'tmux',
    nativeSessionId: session.nativeId,
    workingDir: session.workingDir,
    status: session.status,
    revision: session.revision,
    ...(session.lastTurnId ? { lastTurnId: session.lastTurnId } : {}),
  };
}

function interrupted(accepted: boolean): TurnInterruptedError {
  return new TurnInterruptedError({ accepted, inHistory: accepted, why: 'a test interrupted it' });
}

function textOf(message: Message): string {
  return typeof message === 'string' ? message : message.map((part) => (part.type === 'text' ? part.text : '')).join('');
}

import type { RecordCursor, RecordEvent } from '../../spec/record-event.js';
import type { OpenedServedSession, ServedActivity, SessionTrust } from '../../spec/served-pane.js';
import { startTicker } from '../../time/ticker.js';
import { JsonRpcLost, JsonRpcRefusal } from '../json-rpc/json-rpc-error.js';
import type {
  EffectiveSettings,
  FollowedEvent,
  InterruptOptions,
  OpenSession,
  SessionActivity,
  SubmitRequest,
} from '../session-transport.js';
import { deliverMessage } from './deliver-message.js';
import type { RunningServer } from './ensure-server.js';
import { EventQueue } from './event-queue.js';
import { followRecord } from './follow-record.js';
import { interruptSession } from './interrupt-session.js';
import type { OpenParts } from './open-served-session.js';
import { PaneView } from './pane-view.js';
import { observeServer } from './server-process.js';
import { takeRecordCursor } from './session-record.js';
import type { ShownPane } from './shown-pane.js';

/** How a session was opened. */
export interface ServedSessionParts extends OpenParts {
  readonly server: RunningServer;
  readonly opened: OpenedServedSession;
  readonly trust: SessionTrust;
  readonly isFollowed: boolean;
  /** The session was brought back, and with it maybe a message that waited in its queue. */
  readonly wasResumed: boolean;
  /** Whether the session had a turn already. */
  readonly hasRecord: boolean;
  readonly recovered: boolean;
  /** The pane that was found; one that is missing is opened. */
  readonly pane?: ShownPane | undefined;
}

const FENCE_LOOK_MS = 1_000;
const ACTIVITY_DEADLINE_MS = 3_000;
const SETTLE_MS = 250;
/** How often a new session is asked whether it has a record by now. */
const FIRST_TURN_POLL_MS = 10;

/** One session on a server of ours, over a connection of its own. */
export class ServedSession implements OpenSession {
  readonly nativeSessionId: string;
  readonly recovered: boolean;
  readonly effective: EffectiveSettings;
  readonly #parts: ServedSessionParts;
  readonly #ended = new AbortController();
  readonly #fenceWatch: Disposable;
  readonly #stopListening: () => void;
  /** What the connection said since the last cursor, or whoever follows now. */
  #early: FollowedEvent[] = [];
  #queue: EventQueue<FollowedEvent> | undefined;
  #isJustOpened = true;
  /** Our message that was found in a turn already: it may stand before the cursor. */
  #takenBefore: string | undefined;
  readonly #pane: PaneView;
  readonly #submitted = new Set<string>();
  #runningTurnId: string | undefined;
  readonly #endedTurns = new Set<string>();
  /** The tool calls since the last message that was taken in. */
  readonly #turnCalls = new Set<string>();
  #turnOfCalls: string | undefined;

  constructor(parts: ServedSessionParts) {
    const { opened, server, request } = parts;
    this.#parts = parts;
    this.nativeSessionId = opened.nativeSessionId;
    this.recovered = parts.recovered;
    this.effective = {
      permissions: opened.permissions,
      model: opened.model,
      workingDir: opened.workingDir,
    };
    this.#pane = new PaneView(
      {
        way: parts.way,
        context: parts.context,
        nativeSessionId: opened.nativeSessionId,
        serverSocket: server.record.socketPath,
        leaseToken: request.fence.token,
        emit: request.emit,
      },
      parts.pane,
    );
    this.#stopListening = server.connection.listen({
      onFrame: (frame) => {
        if (frame.nativeSessionId !== this.nativeSessionId) return;
        this.#runningTurnId = frame.runningTurnId ?? this.#runningTurnId;
        if (frame.endedTurnId === this.#runningTurnId) this.#runningTurnId = undefined;
        // The record was faster: what still comes of that turn must not look like the next one's.
        if (frame.nativeTurnId !== undefined && this.#endedTurns.has(frame.nativeTurnId)) return;
        for (const event of frame.events) this.#tell(event);
      },
      onDecline: ({ nativeSessionId = this.nativeSessionId, event }) => {
        if (nativeSessionId === this.nativeSessionId) this.#tell(event);
      },
    });
    // Without a record there is nothing a pane could show yet.
    if (parts.isFollowed && parts.hasRecord) this.#pane.want({ replace: server.wasStarted });
    // For JSON-RPC the fence is the connection: who has lost the lease has none.
    this.#fenceWatch = startTicker(FENCE_LOOK_MS, () => {
      if (!request.fence.isCurrent()) server.connection[Symbol.dispose]();
    });
  }

  get tmuxSession(): string | undefined {
    return this.#pane.tmuxSession;
  }

  get terminalId(): string | undefined {
    return this.#pane.terminalId;
  }

  async activity(): Promise<SessionActivity> {
    const activity = await this.#askActivity();
    const isFirst = this.#isJustOpened;
    this.#isJustOpened = false;
    return isFirst && activity === 'busy' ? this.#settledActivity() : activity;
  }

  async takeCursor(): Promise<RecordCursor> {
    const { recordPath } = this.#parts.opened;
    // What was said before is older than the cursor.
    this.#early = [];
    return recordPath === undefined ? { length: 0 } : takeRecordCursor(recordPath);
  }

  async submit({ text, turnId, mayStandInComposer, signal }: SubmitRequest): Promise<void> {
    const { way, server, request, context, wasResumed } = this.#parts;
    this.#submitted.add(turnId);
    const outcome = await deliverMessage({
      way,
      connection: server.connection,
      nativeSessionId: this.nativeSessionId,
      fence: request.fence,
      text,
      turnId,
      lookFirst: mayStandInComposer || wasResumed,
      clock: context.clock,
      signal,
    });
    if (outcome === 'taken') this.#takenBefore = turnId;
    if (this.#parts.hasRecord) return;
    this.#pane.want({ replace: false, whenReady: () => this.#untilFollowed() });
    this.#pane.show();
  }

  async *follow(since: RecordCursor, signal: AbortSignal): AsyncGenerator<FollowedEvent> {
    // Attached to a turn that runs already: there is nothing to wait for.
    if (this.#submitted.size === 0) this.#pane.show();
    const queue = new EventQueue<FollowedEvent>();
    for (const event of this.#early.splice(0)) queue.push(event);
    this.#queue = queue;
    const stop = new AbortController();
    const stopped = AbortSignal.any([stop.signal, signal, this.#ended.signal]);
    stopped.addEventListener('abort', () => queue.end(), { once: true });
    const { server, opened } = this.#parts;
    const unlisten = server.connection.onClosed(() => queue.push(this.#lost()));
    const path = since.path ?? opened.recordPath;
    const reading = followRecord({
      ...this.#parts,
      path,
      since: this.#takenBefore === undefined ? since : { ...since, length: 0 },
      startAtMessage: this.#takenBefore,
      queue,
      signal: stopped,
    });
    try {
      for await (const event of queue) {
        this.#note(event);
        yield event;
      }
    } finally {
      this.#queue = undefined;
      unlisten();
      stop.abort();
      await reading;
    }
  }

  async interrupt({ deadlineMs, turnId }: InterruptOptions): Promise<void> {
    const runningTurnId = this.#runningTurnId;
    // Also what an earlier process put in and this one only attached to.
    const submitted = new Set([...this.#submitted, turnId]);
    const calls = this.#turnCalls;
    await interruptSession({ ...this.#parts, runningTurnId, submitted, calls, deadlineMs });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ended.abort();
    this.#stopListening();
    this.#fenceWatch[Symbol.dispose]();
    await this.#pane.settled();
    this.#parts.server.connection[Symbol.dispose]();
  }

  /** The record holds a turn's end a moment before the server calls itself idle. */
  async #settledActivity(): Promise<SessionActivity> {
    const { clock } = this.#parts.context;
    const end = clock.monotonicMs() + SETTLE_MS;
    let activity: SessionActivity = 'busy';
    while (activity === 'busy' && clock.monotonicMs() < end) {
      await clock.sleep(FIRST_TURN_POLL_MS);
      activity = await this.#askActivity();
    }
    return activity;
  }

  async #askActivity(): Promise<SessionActivity> {
    const { way, server } = this.#parts;
    try {
      const call = way.protocol.readSession(this.nativeSessionId);
      const result = await server.connection.call(call, { deadlineMs: ACTIVITY_DEADLINE_MS });
      return toSessionActivity(way.protocol.readActivity(result));
    } catch {
      return 'unknown';
    }
  }

  #tell(event: RecordEvent): void {
    const followed: FollowedEvent = { kind: 'record', event, durable: false };
    if (this.#queue) this.#queue.push(followed);
    else this.#early.push(followed);
  }

  #note(followed: FollowedEvent): void {
    if (followed.kind !== 'record') return;
    const { event, durable } = followed;
    if (event.type === 'tool_started') this.#turnCalls.add(event.callId);
    if (!durable) return;
    if (event.type === 'message_accepted') this.#pane.show();
    if (event.type === 'message_accepted' && event.nativeTurnId !== this.#turnOfCalls) {
      this.#turnOfCalls = event.nativeTurnId;
      this.#turnCalls.clear();
    }
    const isEnd = event.type === 'turn_ended' || event.type === 'turn_failed';
    if (isEnd && event.nativeTurnId !== undefined) this.#endedTurns.add(event.nativeTurnId);
  }

  #lost(): FollowedEvent {
    const isDead = observeServer(this.#parts.server.record) === 'dead';
    const why = isDead ? 'the server has ended' : 'the connection to the server has closed';
    return { kind: 'transport_lost', why };
  }

  /** A new session can be followed and shown only once its first turn has made a record. */
  async #untilFollowed(): Promise<boolean> {
    const { way, context, server, request, trust } = this.#parts;
    const { nativeSessionId } = this;
    const call = way.protocol.resumeSession({ config: context.config, nativeSessionId, trust });
    while (!this.#ended.signal.aborted && !server.connection.isClosed) {
      try {
        await server.connection.call(call, { deadlineMs: request.deadlineMs });
        return true;
      } catch (error) {
        if (error instanceof JsonRpcLost) return false;
        if (!(error instanceof JsonRpcRefusal)) throw error;
      }
      await context.clock.sleep(FIRST_TURN_POLL_MS);
    }
    return false;
  }
}

function toSessionActivity(activity: ServedActivity): SessionActivity {
  return activity === 'unloaded' ? 'unknown' : activity;
}

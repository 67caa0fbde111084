import type { HostDecision } from '../../spec/host-request.js';
import type { RecordCursor, RecordEvent } from '../../spec/record-event.js';
import type { OpenedServedSession, ServedFrame, SessionTrust } from '../../spec/served-pane.js';
import type { SteerResult } from '../../spec/turn.js';
import { startTicker } from '../../time/ticker.js';
import type {
  EffectiveSettings,
  FollowedEvent,
  InterruptOptions,
  OpenSession,
  SessionActivity,
  SteerRequest,
  SubmitRequest,
} from '../session-transport.js';
import { deliverMessage } from './deliver-message.js';
import type { RunningServer } from './ensure-server.js';
import { EventQueue } from './event-queue.js';
import { followFirstTurn } from './first-turn.js';
import { followRecord } from './follow-record.js';
import { interruptSession } from './interrupt-session.js';
import type { OpenParts } from './open-served-session.js';
import { PaneView } from './pane-view.js';
import { observeServer } from './server-process.js';
import {
  type ActivityParts,
  askActivity,
  askSettledActivity,
  countBackgroundWork,
} from './session-activity.js';
import { takeRecordCursor } from './session-record.js';
import { SessionRequests } from './session-requests.js';
import type { ShownPane } from './shown-pane.js';
import { steerSession } from './steer-session.js';
import { TurnNotes } from './turn-notes.js';

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
const NO_WORK = Promise.resolve(0);

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
  readonly #requests: SessionRequests;
  /** The first turn of a new session, until it can be followed. */
  #firstTurn: Promise<boolean> | undefined;
  readonly #submitted = new Set<string>();
  #runningTurnId: string | undefined;
  readonly #notes = new TurnNotes();
  /** What an earlier turn had left running when the session was opened. */
  readonly #workBefore: Promise<number | 'unknown'>;

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
    this.#requests = new SessionRequests({
      answersRequests: request.answersRequests,
      fence: request.fence,
      tell: (event) => this.#queue?.push(event),
      tellDeclined: (event) => this.#tell(event),
    });
    this.#stopListening = server.connection.listen({
      nativeSessionId: this.nativeSessionId,
      onFrame: (frame) => this.#takeFrame(frame),
      onRequest: (asked) => this.#requests.take(asked),
      onSettled: (asked) => this.#requests.settle(asked),
    });
    server.connection.onClosed(() => this.#requests.lose());
    this.#workBefore = parts.hasRecord ? countBackgroundWork(this.#activityParts) : NO_WORK;
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
    const isFirst = this.#isJustOpened;
    this.#isJustOpened = false;
    const activity = isFirst
      ? await askSettledActivity(this.#activityParts, this.#parts.context.clock)
      : await askActivity(this.#activityParts);
    // Not loaded, or not told: whoever opens it next asks for it anew.
    if (activity === 'unknown') this.#parts.server.connection.forgetServed(this.nativeSessionId);
    return activity;
  }

  async takeCursor(): Promise<RecordCursor> {
    const { recordPath } = this.#parts.opened;
    // What was said before is older than the cursor.
    this.#early = [];
    return recordPath === undefined ? { length: 0 } : takeRecordCursor(recordPath);
  }

  async submit({ text, images, turnId, mayStandInComposer, signal }: SubmitRequest): Promise<void> {
    const { way, server, request, context, wasResumed } = this.#parts;
    this.#submitted.add(turnId);
    const outcome = await deliverMessage({
      way,
      connection: server.connection,
      nativeSessionId: this.nativeSessionId,
      fence: request.fence,
      text,
      images,
      turnId,
      lookFirst: mayStandInComposer || wasResumed,
      clock: context.clock,
      signal,
    });
    if (outcome === 'taken') this.#takenBefore = turnId;
    if (this.#parts.hasRecord) return;
    // Who started the session follows it already; another one only resumes it once there is a record.
    if (!this.#parts.isFollowed) this.#firstTurn = this.#untilFollowed();
    this.#pane.want({ replace: false, whenReady: () => this.#untilFollowed() });
    this.#pane.show();
  }

  async *follow(since: RecordCursor, signal: AbortSignal): AsyncGenerator<FollowedEvent> {
    // Attached to a turn that runs already: there is nothing to wait for.
    if (this.#submitted.size === 0) this.#pane.show();
    const queue = new EventQueue<FollowedEvent>();
    for (const event of this.#early.splice(0)) queue.push(event);
    this.#queue = queue;
    this.#requests.repeat();
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
      workBefore: this.#workBefore,
      queue,
      signal: stopped,
    });
    try {
      for await (const event of queue) {
        if (this.#note(event)) yield event;
      }
    } finally {
      this.#queue = undefined;
      unlisten();
      stop.abort();
      await reading;
    }
  }

  async steer(request: SteerRequest): Promise<SteerResult> {
    const { context } = this.#parts;
    const { fence } = this.#parts.request;
    return steerSession({ ...this.#activityParts, fence, clock: context.clock, request });
  }

  answerRequest(requestId: string, decision: HostDecision): Promise<'taken' | 'gone'> {
    return this.#requests.answer(requestId, decision);
  }

  backgroundWork(): Promise<number | 'unknown'> {
    return countBackgroundWork(this.#activityParts);
  }

  async interrupt({ deadlineMs, turnId }: InterruptOptions): Promise<void> {
    const runningTurnId = this.#runningTurnId;
    // Also what an earlier process put in and this one only attached to.
    const submitted = new Set([...this.#submitted, turnId]);
    const { calls } = this.#notes;
    this.#requests.interrupt();
    const isOurs = () => this.#parts.request.fence.isCurrent() && !this.#ended.signal.aborted;
    await interruptSession({
      ...this.#parts,
      runningTurnId,
      submitted,
      calls,
      deadlineMs,
      isOurs,
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ended.abort();
    this.#stopListening();
    this.#fenceWatch[Symbol.dispose]();
    await this.#firstTurn;
    await this.#pane.settled();
    this.#parts.server.connection[Symbol.dispose]();
  }

  get #activityParts(): ActivityParts {
    const { way, server } = this.#parts;
    return { way, connection: server.connection, nativeSessionId: this.nativeSessionId };
  }

  #takeFrame(frame: ServedFrame): void {
    this.#runningTurnId = frame.runningTurnId ?? this.#runningTurnId;
    if (frame.endedTurnId === this.#runningTurnId) this.#runningTurnId = undefined;
    if (frame.endedTurnId !== undefined) this.#requests.endTurn(frame.endedTurnId);
    if (this.#notes.hasEnded(frame.nativeTurnId)) return;
    for (const event of frame.events) this.#tell(event);
  }

  #tell(event: RecordEvent): void {
    const followed: FollowedEvent = { kind: 'record', event, durable: false };
    if (this.#queue) this.#queue.push(followed);
    else this.#early.push(followed);
  }

  #note(followed: FollowedEvent): boolean {
    if (followed.kind !== 'record') return true;
    const { event, durable } = followed;
    if (durable && event.type === 'message_accepted') this.#pane.show();
    return this.#notes.take(event, durable);
  }

  #lost(): FollowedEvent {
    const isDead = observeServer(this.#parts.server.record) === 'dead';
    const why = isDead ? 'the server has ended' : 'the connection to the server has closed';
    return { kind: 'transport_lost', why };
  }

  #untilFollowed(): Promise<boolean> {
    this.#firstTurn ??= followFirstTurn(this.#parts, this.#ended.signal);
    return this.#firstTurn;
  }
}

import type { RecordCursor } from '../../spec/record-event.js';
import type { TurnProcess } from '../../spec/turn-process.js';
import { takeRecordCursor } from '../served-pane/session-record.js';
import type {
  EffectiveSettings,
  FollowedEvent,
  InterruptOptions,
  OpenRequest,
  OpenSession,
  SessionActivity,
  SessionContext,
  SubmitRequest,
} from '../session-transport.js';
import { followTurnProcess } from './follow-turn-process.js';
import { interruptTurn } from './interrupt-turn.js';
import { observeTurnProcess, readProcessRecord } from './process-record.js';
import { startTurn } from './start-turn.js';
import { putAway } from './turn-end.js';

/** How a session was opened. */
export interface TurnSessionParts {
  readonly way: TurnProcess;
  readonly context: SessionContext & { readonly nativeSessionId: string };
  readonly request: OpenRequest;
  readonly recordPath: string;
  readonly recovered: boolean;
}

/** One session whose turns have a process each; between them there is none, and it is ready. */
export class TurnProcessSession implements OpenSession {
  readonly nativeSessionId: string;
  readonly recovered: boolean;
  /** Each turn's own record tells what it runs with, and it is judged there. */
  readonly effective: EffectiveSettings = {};
  readonly #parts: TurnSessionParts;

  constructor(parts: TurnSessionParts) {
    this.#parts = parts;
    this.nativeSessionId = parts.context.nativeSessionId;
    this.recovered = parts.recovered;
  }

  async activity(): Promise<SessionActivity> {
    const record = await readProcessRecord(this.#parts.context.filesDir);
    const state = record ? observeTurnProcess(record) : 'dead';
    if (state === 'unknown') return 'unknown';
    return state === 'alive' ? 'busy' : 'idle';
  }

  takeCursor(): Promise<RecordCursor> {
    return takeRecordCursor(this.#parts.recordPath);
  }

  async submit(submit: SubmitRequest): Promise<void> {
    const { way, context, request } = this.#parts;
    const { nativeSessionId } = this;
    await startTurn({ way, context, nativeSessionId, fence: request.fence, submit });
  }

  follow(since: RecordCursor, signal: AbortSignal): AsyncIterable<FollowedEvent> {
    return followTurnProcess({ ...this.#parts, since, signal });
  }

  interrupt({ deadlineMs }: InterruptOptions): Promise<void> {
    const { context, request } = this.#parts;
    return interruptTurn(context, request.fence, deadlineMs);
  }

  /** A process whose turn is over leaves at once, and takes its files with it; one that runs on is left alone. */
  async [Symbol.asyncDispose](): Promise<void> {
    const { way, context, request } = this.#parts;
    // With the lease lost, what runs or has run by now is another owner's.
    if (request.fence.isCurrent()) await putAway(way, context);
  }
}

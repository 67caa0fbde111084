import type { HostDecision } from '../spec/host-request.js';
import type { RecordCursor, RecordEvent } from '../spec/record-event.js';
import type { SteerResult } from '../spec/turn.js';
import type {
  FollowedEvent,
  SessionTransport,
  SteerRequest,
} from '../transports/session-transport.js';
import { ScriptedProvider, scriptedTransport } from './scripted-transport.js';

/** A provider whose turn goes on as the test says, event by event. For the machine's tests. */
export class LiveScript {
  readonly provider = new ScriptedProvider();
  readonly decisions: [string, HostDecision][] = [];
  readonly steered: SteerRequest[] = [];
  readonly ended: string[] = [];
  /** How the CLI answers a steered text. */
  steerResult: SteerResult = { outcome: 'accepted', detail: 'scripted' };
  /** What an answer meets: it is taken, or somebody else was first. */
  answersWith: 'taken' | 'gone' | Promise<'taken' | 'gone'> = 'taken';
  backgroundWork = 0;
  readonly transport: SessionTransport;
  #items: FollowedEvent[] = [];
  #wake: () => void = () => {};

  constructor() {
    // It runs until the test says otherwise.
    this.provider.respond = () => {
      this.provider.process = { state: 'alive', activity: 'busy' };
      return [];
    };
    const base = scriptedTransport(this.provider);
    this.transport = {
      ...base,
      end: async () => {
        this.ended.push('end');
        this.provider.process = { state: 'gone' };
        return { ended: 1, left: [], archived: false };
      },
      open: async (context, request) => ({
        ...(await base.open(context, request)),
        follow: (since, signal) => this.#follow(since, signal),
        answerRequest: async (requestId, decision) => {
          this.decisions.push([requestId, decision]);
          return this.answersWith;
        },
        steer: async (request) => {
          this.steered.push(request);
          return this.steerResult;
        },
        backgroundWork: async () => this.backgroundWork,
      }),
    };
  }

  /** The provider says something now. */
  say(item: FollowedEvent): void {
    this.#items.push(item);
    this.#wake();
  }

  /** The provider writes something into its record now. */
  write(event: RecordEvent): void {
    this.provider.record.push(event);
    this.say({ kind: 'record', event, durable: true });
  }

  /** The turn ends with an answer. */
  answer(answer: string, more: Partial<Extract<RecordEvent, { type: 'turn_ended' }>> = {}): void {
    this.provider.process = { state: 'alive', activity: 'idle' };
    this.write({ type: 'turn_ended', answer, backgroundWork: 0, stopReason: 'end_turn', ...more });
  }

  async *#follow(since: RecordCursor, signal: AbortSignal): AsyncIterable<FollowedEvent> {
    for (const event of this.provider.record.slice(since.length)) {
      yield { kind: 'record', event, durable: true };
    }
    for (let index = 0; !signal.aborted; index += 1) {
      while (index >= this.#items.length && !signal.aborted) {
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
          signal.addEventListener('abort', () => resolve(), { once: true });
        });
      }
      const item = this.#items[index];
      if (item) yield item;
    }
  }
}

import type { RecordEvent } from '../spec/record-event.js';
import type { EmitTurnEvent } from '../spec/turn-event.js';

/** Turns what the provider says into content events, each thing once although hook and record may both tell it. */
export class ContentEvents {
  readonly #emit: EmitTurnEvent;
  readonly #told = new Set<string>();
  #isCompacting = false;

  constructor(emit: EmitTurnEvent) {
    this.#emit = emit;
  }

  take(
    event: RecordEvent,
    { durable, isOurs }: { readonly durable: boolean; readonly isOurs: boolean },
  ): void {
    if (!isOurs) return;
    switch (event.type) {
      case 'text':
        if (event.partial) this.#emit({ type: 'text_delta', text: event.text });
        return;
      case 'tool_started':
      case 'tool_finished':
        this.#once(`${event.type} ${event.callId}`, () =>
          this.#emit({ type: event.type, name: event.name, callId: event.callId }),
        );
        return;
      case 'command_finished':
        this.#once(`${event.type} ${event.callId}`, () => this.#emit(event));
        return;
      case 'waiting':
        this.#once(`waiting ${event.detail ?? event.on}`, () =>
          this.#emit({ type: 'approval_requested', detail: event.detail ?? event.on }),
        );
        return;
      case 'compaction_started':
      case 'compaction_finished':
        this.#compaction(event.type);
        return;
      case 'turn_ended':
        this.#ended(event, durable);
        return;
      default:
    }
  }

  #ended(event: Extract<RecordEvent, { type: 'turn_ended' }>, durable: boolean): void {
    if (event.answer) {
      this.#once(`answer ${event.answer}`, () =>
        this.#emit({ type: 'answer', text: event.answer, final: false }),
      );
    }
    if (!durable) return;
    if (event.usage) this.#emit({ type: 'usage', usage: event.usage });
    if (event.backgroundWork === 0) this.#emit({ type: 'quiescent' });
  }

  #compaction(type: 'compaction_started' | 'compaction_finished'): void {
    const starts = type === 'compaction_started';
    if (starts === this.#isCompacting) return;
    this.#isCompacting = starts;
    this.#emit({ type });
  }

  #once(key: string, tell: () => void): void {
    if (this.#told.has(key)) return;
    this.#told.add(key);
    tell();
  }
}

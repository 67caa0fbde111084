import type { RecordCursor, RecordEvent } from '../spec/record-event.js';
import type {
  FollowedEvent,
  OpenRequest,
  OpenSession,
  ProcessObservation,
  RecordReading,
  SessionTransport,
  SubmitRequest,
} from '../transports/session-transport.js';

/** A provider's side of a session in memory: its record, its process, and how it answers. For the machine's tests. */
export class ScriptedProvider {
  record: RecordEvent[] = [];
  process: ProcessObservation = { state: 'gone' };
  recordState: 'readable' | 'absent' | 'untrustworthy' = 'readable';
  /** What stands in the composer without having been submitted. */
  composer = '';
  /** What the provider writes for a message that was taken in; the default answers it. */
  respond: (text: string) => RecordEvent[] = (text) => [
    { type: 'turn_ended', answer: `heard: ${text}`, backgroundWork: 0, stopReason: 'end_turn' },
  ];
  opened = 0;
  sent: string[] = [];
  /** A fast signal says that a message was taken in, and the record never shows it. */
  onlySignals = false;

  copy(): ScriptedProvider {
    const copy = new ScriptedProvider();
    copy.record = [...this.record];
    copy.process = this.process;
    copy.recordState = this.recordState;
    copy.composer = this.composer;
    copy.respond = this.respond;
    return copy;
  }

  /** How often the record holds this message. */
  count(text: string): number {
    return this.record.filter((event) => event.type === 'message_accepted' && event.text === text)
      .length;
  }

  take(text: string): void {
    this.sent.push(text);
    if (this.onlySignals) return;
    this.record.push({ type: 'message_accepted', text, origin: 'user' });
    this.record.push(...this.respond(text));
  }
}

/** A transport over a {@link ScriptedProvider}. */
export function scriptedTransport(provider: ScriptedProvider): SessionTransport {
  return {
    observe: async () => provider.process,
    findForeignOwner: async () => undefined,
    findRefusal: async (_context, text) =>
      text.startsWith('!') ? { reason: 'shell', detail: 'It would run in a shell.' } : undefined,
    readRecord: async (_context, since) => readFrom(provider, since),
    end: async () => ({ ended: 0, left: [], archived: false }),
    open: async (context, request) =>
      openScripted(provider, context.nativeSessionId ?? '', request),
  };
}

function readFrom(provider: ScriptedProvider, since: RecordCursor | undefined): RecordReading {
  if (provider.recordState === 'absent') return { state: 'absent' };
  if (provider.recordState === 'untrustworthy') return { state: 'untrustworthy', why: 'scripted' };
  return { state: 'readable', events: provider.record.slice(since?.length ?? 0) };
}

function openScripted(
  provider: ScriptedProvider,
  nativeSessionId: string,
  request: OpenRequest,
): OpenSession {
  provider.opened += 1;
  const wasGone = provider.process.state === 'gone';
  if (wasGone && request.expectsLive) request.emit({ type: 'lost_tmux' });
  if (wasGone) request.emit({ type: 'resuming' });
  provider.process = { state: 'alive', activity: 'idle' };
  return {
    nativeSessionId,
    recovered: wasGone,
    effective: {},
    activity: async () =>
      provider.process.state === 'alive' ? provider.process.activity : 'unknown',
    takeCursor: async () => ({ path: '/record', fileId: '1:1', length: provider.record.length }),
    submit: async (submit) => submitScripted(provider, submit),
    follow: (since) => followScripted(provider, since),
    interrupt: async () => {
      provider.record.push({ type: 'turn_interrupted' });
    },
    [Symbol.asyncDispose]: async () => {},
  };
}

async function submitScripted(provider: ScriptedProvider, { text }: SubmitRequest): Promise<void> {
  provider.composer = '';
  provider.take(text);
}

async function* followScripted(
  provider: ScriptedProvider,
  since: RecordCursor,
): AsyncIterable<FollowedEvent> {
  for (let index = since.length; index < provider.record.length; index++) {
    const event = provider.record[index];
    if (event) yield { kind: 'record', event, durable: true };
  }
  const [text] = provider.sent;
  if (provider.onlySignals && text !== undefined) {
    const event: RecordEvent = { type: 'message_accepted', text, origin: 'user' };
    yield { kind: 'record', event, durable: false };
  }
  if (provider.process.state === 'gone') yield { kind: 'transport_lost', why: 'scripted' };
  await new Promise(() => {});
}

import { type Clock, isoInstant } from '@holdfast/agent';
import { WORKER_PROTOCOL_VERSION } from '../contract/capabilities.wire.js';
import { mintUuidV7 } from '../contract/uuid.js';
import { encodeFrame } from './frame-reader.js';
import { encodeEvent, type WorkerIdentity, type WorkerPayload } from './worker-protocol.wire.js';

/** Tells the runner one thing after the other, each with the next number. */
export class EventTeller {
  readonly #identity: WorkerIdentity;
  readonly #write: (text: string) => void;
  readonly #clock: Clock;
  #sequence = 0;

  constructor(identity: WorkerIdentity, write: (text: string) => void, clock: Clock) {
    this.#identity = identity;
    this.#write = write;
    this.#clock = clock;
  }

  /** Tells it; what no frame can hold is a `WorkerProtocolError`, and nothing was said. */
  tell(payload: WorkerPayload): void {
    const { executionId, leaseId, fencingToken } = this.#identity;
    const frame = encodeFrame(
      encodeEvent({
        protocolVersion: WORKER_PROTOCOL_VERSION,
        eventId: mintUuidV7(this.#clock),
        executionId,
        leaseId,
        fencingToken,
        sequence: this.#sequence + 1,
        occurredAt: isoInstant(this.#clock),
        payload,
      }),
    );
    this.#sequence += 1;
    this.#write(frame);
  }
}

import type { CodingPatch, Sha256 } from '../coding-job.js';
import { decodeCapabilities, digestCapabilities } from '../contract/capabilities.wire.js';
import type { CodingWorkerSpec } from '../worker/worker-spec.js';
import { checkWorkerPatch } from './check-outcome.js';
import { decodeEvent, type WorkerIdentity, type WorkerPayload } from './worker-protocol.wire.js';
import { type ProtocolFault, WorkerProtocolError } from './worker-protocol-error.js';

/** How a worker said that it ended. */
export type WorkerTerminal = Extract<WorkerPayload, { type: 'terminal' }>;

/** What a worker is held to. */
export interface ExpectedWorker {
  readonly identity: WorkerIdentity;
  readonly spec: CodingWorkerSpec;
  readonly capabilityDigest: Sha256;
}

/** Holds what a worker says to the protocol, event by event; the first fault ends all trust in it. */
export class WorkerEvents {
  readonly #expected: ExpectedWorker;
  #sequence = 0;
  #isReady = false;
  #patch: CodingPatch | undefined;
  #terminal: WorkerTerminal | undefined;

  constructor(expected: ExpectedWorker) {
    this.#expected = expected;
  }

  /** The patch that it gave, judged. */
  get patch(): CodingPatch | undefined {
    return this.#patch;
  }

  /** How it said that it ended. */
  get terminal(): WorkerTerminal | undefined {
    return this.#terminal;
  }

  /** Takes the next frame; gives what it says. */
  take(frame: string): WorkerPayload {
    const event = decodeEvent(frame);
    const { executionId, leaseId, fencingToken } = this.#expected.identity;
    check(
      event.executionId === executionId &&
        event.leaseId === leaseId &&
        event.fencingToken === fencingToken,
      ['wrong_fence', 'an event is of another try'],
    );
    const next = this.#sequence + 1;
    check(event.sequence === next, ['wrong_sequence', `${event.sequence} came for ${next}`]);
    this.#sequence = next;
    this.#judge(event.payload);
    return event.payload;
  }

  #judge(payload: WorkerPayload): void {
    check(this.#terminal === undefined, ['out_of_order', 'an event came after the terminal']);
    switch (payload.type) {
      case 'ready':
        check(!this.#isReady, ['out_of_order', 'ready came twice']);
        this.#checkCapabilities(payload.capabilities);
        this.#isReady = true;
        return;
      case 'terminal':
        this.#terminal = payload;
        return;
      case 'coding-patch':
        check(!this.#patch, ['out_of_order', 'a patch came twice']);
        checkWorkerPatch(this.#expected.spec, payload.patch);
        this.#patch = payload.patch;
        break;
      default:
    }
    check(this.#isReady, ['out_of_order', `${payload.type} came before ready`]);
  }

  #checkCapabilities(told: unknown): void {
    const { capabilityDigest } = this.#expected;
    check(digestOfTold(told) === capabilityDigest, [
      'wrong_capabilities',
      'the worker can do something else than was admitted',
    ]);
  }
}

function digestOfTold(told: unknown): string | undefined {
  try {
    return digestCapabilities(decodeCapabilities(told));
  } catch {
    return undefined;
  }
}

function check(isRight: boolean, [fault, detail]: readonly [ProtocolFault, string]): void {
  if (!isRight) throw new WorkerProtocolError(fault, detail);
}

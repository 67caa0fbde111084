import { MAXIMUM_EVENT_BYTES } from '../contract/capabilities.wire.js';
import { WorkerProtocolError } from './worker-protocol-error.js';

const NEWLINE = 0x0a;

/**
 * Bytes to frames, one a line. A frame's length is judged before anything of it is parsed, and half a frame waits for its
 * rest, whatever else happens meanwhile.
 */
export class FrameReader {
  #half: Uint8Array[] = [];
  #halfBytes = 0;

  /** Whether bytes of an unfinished frame were seen. */
  get isTorn(): boolean {
    return this.#halfBytes > 0;
  }

  /** Takes the next bytes, gives the texts of the frames that they finish. */
  push(chunk: Uint8Array): string[] {
    const frames: string[] = [];
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      this.#keep(chunk.subarray(start, end));
      frames.push(this.#finish());
      start = end + 1;
    }
    this.#keep(chunk.subarray(start));
    return frames;
  }

  #keep(bytes: Uint8Array): void {
    if (bytes.length === 0) return;
    this.#halfBytes += bytes.length;
    if (this.#halfBytes > MAXIMUM_EVENT_BYTES) {
      throw new WorkerProtocolError('frame_too_large', `more than ${MAXIMUM_EVENT_BYTES} bytes`);
    }
    // A copy: whoever reads into the same buffer again must not change what waits here.
    this.#half.push(Uint8Array.from(bytes));
  }

  #finish(): string {
    const bytes = Buffer.concat(this.#half);
    this.#half = [];
    this.#halfBytes = 0;
    try {
      return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    } catch {
      throw new WorkerProtocolError('frame_unreadable', 'a frame is no UTF-8');
    }
  }
}

/** A frame as it is sent. One that is too long for any reader is refused here already. */
export function encodeFrame(value: unknown): string {
  const text = JSON.stringify(value);
  const bytes = Buffer.byteLength(text);
  if (bytes <= MAXIMUM_EVENT_BYTES) return `${text}\n`;
  throw new WorkerProtocolError('frame_too_large', `${bytes} bytes`);
}

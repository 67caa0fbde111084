import { randomBytes } from 'node:crypto';
import { connect, type Socket } from 'node:net';

/** The smallest WebSocket client over a unix socket: text messages alone, enough for an app-server. */
export class SocketClient {
  readonly #socket: Socket;
  readonly #onMessage: (text: string) => void;
  #buffer: Buffer = Buffer.alloc(0);
  #parts: Buffer[] = [];
  #isOpen = false;
  #opened: () => void = () => {};

  private constructor(socket: Socket, onMessage: (text: string) => void) {
    this.#socket = socket;
    this.#onMessage = onMessage;
    socket.on('data', (bytes: Buffer) => {
      this.#buffer = this.#buffer.length === 0 ? bytes : Buffer.concat([this.#buffer, bytes]);
      if (this.#isOpen || this.#readHandshake()) this.#readFrames();
    });
  }

  /** Connects and shakes hands; rejects while nobody listens. */
  static async open(path: string, onMessage: (text: string) => void): Promise<SocketClient> {
    const socket = connect(path);
    const client = new SocketClient(socket, onMessage);
    await new Promise<void>((resolve, reject) => {
      client.#opened = resolve;
      socket.once('error', reject);
      socket.once('connect', () => socket.write(handshake()));
    });
    socket.on('error', () => {});
    return client;
  }

  send(text: string): void {
    this.#write(TEXT, Buffer.from(text));
  }

  close(): void {
    this.#socket.destroy();
  }

  #readHandshake(): boolean {
    const end = this.#buffer.indexOf('\r\n\r\n');
    if (end < 0) return false;
    this.#buffer = this.#buffer.subarray(end + 4);
    this.#isOpen = true;
    this.#opened();
    return true;
  }

  #readFrames(): void {
    for (let frame = readFrame(this.#buffer); frame; frame = readFrame(this.#buffer)) {
      this.#buffer = this.#buffer.subarray(frame.size);
      if (frame.kind === PING) this.#write(PONG, frame.payload);
      if (frame.kind > TEXT) continue;
      this.#parts.push(frame.payload);
      if (!frame.isLast) continue;
      this.#onMessage(Buffer.concat(this.#parts.splice(0)).toString('utf8'));
    }
  }

  #write(kind: number, payload: Buffer): void {
    const mask = randomBytes(4);
    const masked = Buffer.from(payload);
    for (const [index, byte] of payload.entries()) masked[index] = byte ^ (mask[index & 3] ?? 0);
    this.#socket.write(Buffer.concat([frameHead(kind, payload.length), mask, masked]));
  }
}

const TEXT = 1;
const PING = 9;
const PONG = 10;

function handshake(): string {
  const key = randomBytes(16).toString('base64');
  return `GET / HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: ${key}\r\nSec-WebSocket-Version: 13\r\n\r\n`;
}

function frameHead(kind: number, length: number): Buffer {
  if (length < 126) return Buffer.from([0x80 | kind, 0x80 | length]);
  const head = Buffer.alloc(length < 65_536 ? 4 : 10);
  head[0] = 0x80 | kind;
  head[1] = 0x80 | (length < 65_536 ? 126 : 127);
  if (length < 65_536) head.writeUInt16BE(length, 2);
  else head.writeBigUInt64BE(BigInt(length), 2);
  return head;
}

function readFrame(bytes: Buffer) {
  const [first, second] = bytes;
  if (first === undefined || second === undefined) return undefined;
  const short = second & 0x7f;
  const start = short === 127 ? 10 : short === 126 ? 4 : 2;
  if (bytes.length < start) return undefined;
  const length =
    short === 127
      ? Number(bytes.readBigUInt64BE(2))
      : short === 126
        ? bytes.readUInt16BE(2)
        : short;
  if (bytes.length < start + length) return undefined;
  return {
    kind: first & 0x0f,
    isLast: (first & 0x80) !== 0,
    payload: bytes.subarray(start, start + length),
    size: start + length,
  };
}

import { connect, type Socket } from 'node:net';
import { WebSocket } from 'ws';
import { withDeadline } from '../tmux/deadline.js';
import type { TextChannel } from './json-rpc-connection.js';
import { JsonRpcLost } from './json-rpc-error.js';

/** A history of 10,000 turns is answered in one message. */
const MAX_MESSAGE_BYTES = 512 * 1024 * 1024;

/** A channel that can be told whether it keeps the process alive. */
export interface WebSocketChannel extends TextChannel {
  readonly keepsProcess: (keeps: boolean) => void;
}

/** Opens a WebSocket on a Unix socket. Rejects with the system's error, or `JsonRpcLost` at the deadline. */
export async function openWebSocketChannel(
  socketPath: string,
  limits: { readonly deadlineMs: number; readonly signal?: AbortSignal | undefined },
): Promise<WebSocketChannel> {
  let stream: Socket | undefined;
  const socket = new WebSocket(`ws+unix:${socketPath}:/`, {
    perMessageDeflate: false,
    maxPayload: MAX_MESSAGE_BYTES,
    followRedirects: false,
    createConnection: () => {
      stream = connect(socketPath);
      return stream;
    },
  });
  const opened = new Promise<void>((resolve, reject) => {
    socket.once('open', resolve);
    // Stays on: a socket without a listener for errors takes the process down.
    socket.on('error', reject);
  });
  try {
    await withDeadline(opened, {
      ...limits,
      missed: () => new JsonRpcLost('connect', false, 'deadline'),
    });
  } catch (error) {
    socket.terminate();
    throw error;
  }
  return {
    send: (text) => socket.send(text),
    onText: (listener) => {
      socket.on('message', (data) => listener(String(data)));
    },
    onClose: (listener) => {
      if (socket.readyState === WebSocket.CLOSED) listener();
      else socket.once('close', listener);
    },
    close: () => socket.terminate(),
    keepsProcess: (keeps) => {
      if (keeps) stream?.ref();
      else stream?.unref();
    },
  };
}

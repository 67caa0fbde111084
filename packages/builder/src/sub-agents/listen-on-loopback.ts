import { randomInt } from 'node:crypto';
import { createServer, type RequestListener, type Server } from 'node:http';
import { type Clock, StateUnusableError, waitUntil } from '@holdfast/agent';

/** A server that accepts on one port of 127.0.0.1. */
export interface LoopbackServer extends AsyncDisposable {
  readonly port: number;
}

/** Below the ports that systems give to outgoing connections, so that none of these sits on ours after a restart. */
const FIRST_PORT = 20_000;
const LAST_PORT = 32_000;
const TRIES = 30;
const CLOSE_MS = 5_000;

/** Listens on a port that nobody has. */
export async function listenAnywhere(
  listener: RequestListener,
  pickPort: () => number = () => randomInt(FIRST_PORT, LAST_PORT),
): Promise<LoopbackServer> {
  for (let tries = 0; tries < TRIES; tries += 1) {
    const server = await listenAt(pickPort(), listener);
    if (server) return server;
  }
  throw new StateUnusableError('127.0.0.1', 'full', `no port is free among ${TRIES} tried ones.`);
}

/** The same port again; `undefined` when another has it and keeps it. */
export async function listenAgainAt(
  port: number,
  listener: RequestListener,
  { clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal },
): Promise<LoopbackServer | undefined> {
  for (let tries = 0; tries < 5; tries += 1) {
    const server = await listenAt(port, listener);
    if (server) return server;
    // What is closing just now may still hold it.
    await clock.sleep(100, signal);
  }
  return undefined;
}

/** Listens on this port; `undefined` when it cannot be had. */
export async function listenAt(
  port: number,
  listener: RequestListener,
): Promise<LoopbackServer | undefined> {
  const server = createServer(listener);
  const isListening = await new Promise<boolean>((resolve, reject) => {
    server.once('error', (error) => (isTaken(error) ? resolve(false) : reject(error)));
    server.listen({ port, host: '127.0.0.1', exclusive: true }, () => resolve(true));
  });
  if (!isListening) return undefined;
  // Sub-agents must not keep a service alive that has nothing else to do.
  server.unref();
  return { port, [Symbol.asyncDispose]: () => closeServer(server) };
}

function isTaken(error: Error): boolean {
  return 'code' in error && (error.code === 'EADDRINUSE' || error.code === 'EACCES');
}

/** Answers what is being asked, then ends every connection; one that neither asks on nor ends is cut off. */
async function closeServer(server: Server): Promise<void> {
  let isClosed = false;
  server.close(() => {
    isClosed = true;
  });
  const isOver = () => {
    server.closeIdleConnections();
    return isClosed;
  };
  await waitUntil(isOver, { awaiting: 'the last answers', deadlineMs: CLOSE_MS }).catch(() =>
    server.closeAllConnections(),
  );
}

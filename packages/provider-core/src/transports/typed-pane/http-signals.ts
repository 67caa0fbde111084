import { randomBytes } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { join } from 'node:path';
import type { PaneSignal, TypedPane } from '../../spec/typed-pane.js';
import type { SessionContext } from '../session-transport.js';

/** The address stays with the session, since its settings name it: whoever attaches listens there again. */
const ADDRESS_FILE = 'signal-address';
/** Switches the listener off; the spool then is the only way, as it is whenever no service lives. */
const SWITCH_VARIABLE = 'HOLDFAST_HTTP_SIGNALS';
const MAX_BODY_BYTES = 16 * 1024 * 1024;
const PATH = /^\/([0-9a-f]{32})\/([A-Za-z]+)$/;

type Listener = (signal: PaneSignal) => void;

interface Registration {
  readonly way: TypedPane;
  readonly tell: Listener;
}

const registrations = new Map<string, Registration>();
const servers = new Map<number, Promise<number | undefined>>();

/** The address a new launch writes into its settings; nothing where the listener is off or has no port. */
export async function createSignalUrl({ filesDir }: SessionContext): Promise<string | undefined> {
  if (isOff()) return undefined;
  const port = await listen(0);
  if (port === undefined) return undefined;
  const url = `http://127.0.0.1:${port}/${randomBytes(16).toString('hex')}`;
  await writeFile(join(filesDir, ADDRESS_FILE), url, { mode: 0o600 });
  return url;
}

/** Listens where the session's settings say, so that its hooks find somebody. Silent where the port is another's now. */
export async function openSignalPort(context: SessionContext): Promise<void> {
  const address = await findAddress(context);
  if (address) await listen(address.port);
}

/** Hears what the session's hooks say, until the returned function is called. */
export async function hearSignals(
  way: TypedPane,
  context: SessionContext,
  tell: Listener,
): Promise<() => void> {
  const address = await findAddress(context);
  if (!address) return () => {};
  const registration = { way, tell };
  registrations.set(address.token, registration);
  return () => {
    if (registrations.get(address.token) === registration) registrations.delete(address.token);
  };
}

async function findAddress({
  filesDir,
}: SessionContext): Promise<{ readonly port: number; readonly token: string } | undefined> {
  if (isOff()) return undefined;
  const url = await readFile(join(filesDir, ADDRESS_FILE), 'utf8').catch(() => '');
  const [, port, token] = /^http:\/\/127\.0\.0\.1:(\d+)\/([0-9a-f]{32})$/.exec(url) ?? [];
  return port === undefined || token === undefined ? undefined : { port: Number(port), token };
}

function isOff(): boolean {
  return process.env[SWITCH_VARIABLE] === 'off';
}

/** One listener a port for the life of the process; it keeps nothing alive. Port 0 is the one chosen first. */
function listen(port: number): Promise<number | undefined> {
  const known = servers.get(port);
  if (known) return known;
  const opened = open(port);
  servers.set(port, opened);
  return opened.then((found) => {
    if (found !== undefined) servers.set(found, opened);
    return found;
  });
}

function open(port: number): Promise<number | undefined> {
  const server = createServer((request, response) => {
    response.setHeader('content-type', 'application/json');
    receive(request).then(
      () => response.end('{}'),
      () => response.writeHead(400).end('{}'),
    );
  });
  return new Promise((resolve) => {
    server.once('error', () => resolve(undefined));
    server.listen({ port, host: '127.0.0.1' }, () => resolve(portOf(server)));
    server.unref();
  });
}

function portOf(server: Server): number | undefined {
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : undefined;
}

async function receive(request: IncomingMessage): Promise<void> {
  const [, token = '', hook = ''] = PATH.exec(request.url ?? '') ?? [];
  const registration = registrations.get(token);
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request) {
    length += chunk.length;
    if (length > MAX_BODY_BYTES) return;
    chunks.push(chunk);
  }
  const payload: unknown = JSON.parse(Buffer.concat(chunks).toString('utf8'));
  const signal = registration?.way.readSignal({ hook, payload });
  if (signal) registration?.tell(signal);
}

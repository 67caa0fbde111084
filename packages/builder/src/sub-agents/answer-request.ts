import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Logger } from '@holdfast/agent';
import type { SessionOwner } from '../executions/execution-owner.js';
import { findTokenOwner } from './bridge-token.js';

/** What stands behind the door. */
export interface DoorOptions {
  readonly secret: Uint8Array;
  /** Answers one message of the protocol for a caller that has proven who it is. */
  readonly answer: (
    caller: SessionOwner,
    exchange: {
      readonly request: IncomingMessage;
      readonly response: ServerResponse;
      readonly body: unknown;
    },
  ) => Promise<void>;
  readonly logger?: Logger | undefined;
}

/** The only path that is served. */
export const BRIDGE_PATH = '/mcp';

const MAX_BODY_BYTES = 4 * 1024 * 1024;

/** Answers one request: the door first, the protocol behind it. Never throws. */
export async function answerRequest(
  request: IncomingMessage,
  response: ServerResponse,
  options: DoorOptions,
): Promise<void> {
  try {
    const refusal = findRefusal(request);
    if (refusal) return refuse(request, response, refusal);
    const caller = findTokenOwner(request.headers.authorization, options.secret);
    if (!caller) return refuse(request, response, NO_TOKEN);
    const text = await readBody(request);
    if (text === undefined) return refuse(request, response, TOO_LARGE);
    const body = parseJson(text);
    if (body === undefined) return refuse(request, response, NO_JSON);
    await options.answer(caller, { request, response, body });
  } catch (error) {
    // Who went away needs no answer.
    if (request.destroyed && !request.complete) return;
    options.logger?.error({ error: String(error) }, 'request of a session failed');
    if (response.headersSent) response.destroy();
    else refuse(request, response, { status: 500, message: 'The request failed; try again.' });
  }
}

interface Refusal {
  readonly status: number;
  readonly message: string;
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

const NO_TOKEN: Refusal = {
  status: 401,
  message: 'The token of a session is needed.',
  headers: { 'www-authenticate': 'Bearer' },
};
const TOO_LARGE: Refusal = { status: 413, message: `More than ${MAX_BODY_BYTES} bytes.` };
const NO_JSON: Refusal = { status: 400, message: 'The body is no JSON.' };

/** A page in a browser whose name was made to point here must not get in: it sends its own name, or its origin. */
function findRefusal({ headers, socket, method, url }: IncomingMessage): Refusal | undefined {
  const hosts = ['127.0.0.1', 'localhost'].map((name) => `${name}:${socket.localPort}`);
  const { host = '', origin } = headers;
  if (!hosts.includes(host.toLowerCase())) return { status: 403, message: 'A foreign Host.' };
  if (origin !== undefined && !hosts.some((own) => origin.toLowerCase() === `http://${own}`)) {
    return { status: 403, message: 'A foreign Origin.' };
  }
  if ((url ?? '').split('?')[0] !== BRIDGE_PATH) return { status: 404, message: 'Nothing here.' };
  if (method === 'POST') return undefined;
  // Nothing is kept between requests: there is no stream to open and no session to end.
  return { status: 405, message: 'Only POST.', headers: { allow: 'POST' } };
}

function refuse(
  request: IncomingMessage,
  response: ServerResponse,
  { status, message, headers }: Refusal,
): void {
  const error = { jsonrpc: '2.0', error: { code: -32_000, message }, id: null };
  // A body that was not read would be taken for the next request.
  if (!request.complete) response.shouldKeepAlive = false;
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(error));
}

/** The body as text; `undefined` when it is too large. */
async function readBody(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    const buffer = Buffer.from(chunk);
    bytes += buffer.length;
    if (bytes > MAX_BODY_BYTES) return undefined;
    chunks.push(buffer);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { isoInstant, systemClock } from '../../time/clock.js';
import { waitUntil } from '../../time/wait-until.js';
import { createAttemptLimit } from './attempt-limit.js';
import { chooseStep } from './choose-step.js';
import { appendToModelLog, findProtocolForm } from './model-log.js';
import type { ModelProtocolForm } from './model-protocol.js';
import type { ModelRequest, ModelWindow, ModelWindowName } from './model-request.js';
import type { ScriptedStep } from './scripted-step.js';
import { sendAnswer } from './send-answer.js';
import { unlessAborted } from './unless-aborted.js';

const HOST = '127.0.0.1';

/** Options of {@link startScriptedModel}. */
export interface ScriptedModelOptions {
  /** The port of an earlier server, to come back under the same address; a free one when absent. */
  readonly port?: number;
  /** Where each request is also written, one JSON line each; see `readModelLog`. */
  readonly logFile?: string;
  /** Awaited at each window of each answer, side requests included. What it throws is thrown again by `stop`. */
  readonly onWindow?: (window: ModelWindow) => void | Promise<void>;
  /** Scripts answers for messages that can carry no directive; `undefined` leaves the answer to the body. */
  readonly script?: (request: ModelRequest) => ScriptedStep | undefined;
}

/** A loopback model that answers from the request body alone. */
export interface ScriptedModel extends AsyncDisposable {
  /** For `ANTHROPIC_BASE_URL`; an OpenAI base URL is this with `/v1` behind it, a Gemini one with `/v1beta`. */
  readonly baseUrl: string;
  readonly port: number;
  /** The requests to this server so far, oldest first. */
  readonly requests: () => readonly ModelRequest[];
  /** The first request that fits, also one that came before the call. */
  readonly waitForRequest: (
    predicate: (request: ModelRequest) => boolean,
    options: { readonly deadlineMs: number; readonly signal?: AbortSignal },
  ) => Promise<ModelRequest>;
  /** Cuts off what is under way and frees the port. */
  readonly stop: () => Promise<void>;
}

/** Starts a scripted model on 127.0.0.1 that speaks Anthropic Messages, OpenAI Responses and chat, and Gemini. */
export async function startScriptedModel(
  options: ScriptedModelOptions = {},
): Promise<ScriptedModel> {
  const state = createState(options);
  // An idle connection that we close under the CLI's hands would look like a failure of the model.
  const server = createServer({ keepAliveTimeout: 0 }, (incoming, response) => {
    const work = handle(state, incoming, response).finally(() => state.underWay.delete(work));
    state.underWay.add(work);
  });
  const port = await listen(server, options.port ?? 0);
  const stop = () => stopServer(server, state);
  return {
    baseUrl: `http://${HOST}:${port}`,
    port,
    requests: () => [...state.requests],
    waitForRequest: (predicate, { deadlineMs, signal }) =>
      waitUntil(() => state.requests.find(predicate), {
        awaiting: 'a request at the scripted model',
        deadlineMs,
        signal,
      }),
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

interface ServerState {
  readonly options: ScriptedModelOptions;
  readonly requests: ModelRequest[];
  readonly underWay: Set<Promise<void>>;
  readonly failures: unknown[];
  readonly stopping: AbortController;
  readonly limitAttempts: ReturnType<typeof createAttemptLimit>;
}

function createState(options: ScriptedModelOptions): ServerState {
  return {
    options,
    requests: [],
    underWay: new Set(),
    failures: [],
    stopping: new AbortController(),
    limitAttempts: createAttemptLimit(),
  };
}

async function listen(server: Server, port: number): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, HOST, resolve);
  });
  const address = server.address();
  if (address === null || typeof address === 'string') {
    throw new Error('unreachable: a TCP server has no port');
  }
  return address.port;
}

async function stopServer(server: Server, state: ServerState): Promise<void> {
  state.stopping.abort();
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeAllConnections();
  await closed;
  await Promise.all(state.underWay);
  const [failure] = state.failures.splice(0);
  if (failure !== undefined) throw failure;
}

async function handle(
  state: ServerState,
  incoming: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const left = new AbortController();
  response.on('close', () => left.abort());
  const signal = AbortSignal.any([left.signal, state.stopping.signal]);
  const bodyText = await readBody(incoming);
  if (bodyText === undefined) return;
  const path = incoming.url?.split('?')[0] ?? '/';
  const form = incoming.method === 'POST' ? findProtocolForm(path) : undefined;
  if (!form) return sendElsewhere(incoming, response, path);
  try {
    await answer({ state, form, response, signal }, { path, bodyText });
  } catch (error) {
    if (!signal.aborted) state.failures.push(error);
    response.destroy();
  }
}

interface Exchange {
  readonly state: ServerState;
  readonly form: ModelProtocolForm;
  readonly response: ServerResponse;
  readonly signal: AbortSignal;
}

async function answer(
  { state, form, response, signal }: Exchange,
  received: { readonly path: string; readonly bodyText: string },
): Promise<void> {
  const { options, stopping } = state;
  const request = form.readRequest({ id: randomUUID(), at: isoInstant(systemClock), ...received });
  state.requests.push(request);
  if (options.logFile !== undefined) appendToModelLog(options.logFile, request);
  const reach = async (name: ModelWindowName) => {
    // The window may stop this server, so it must not be waited for once it does.
    await unlessAborted(stopping.signal, (resolve) => {
      void actInWindow(state, { name, request }).then(resolve);
    });
    if (name !== 'after_end') signal.throwIfAborted();
  };

  await reach('at_request');
  const step = state.limitAttempts(request, options.script?.(request) ?? chooseStep(request));
  await sendAnswer({ request, step, form, response, signal, reach });
}

async function actInWindow({ options, failures }: ServerState, window: ModelWindow): Promise<void> {
  try {
    await options.onWindow?.(window);
  } catch (error) {
    failures.push(error);
  }
}

/** The body, or `undefined` when the client left before it was all sent. */
async function readBody(incoming: IncomingMessage): Promise<string | undefined> {
  const chunks: Uint8Array[] = [];
  try {
    for await (const chunk of incoming) chunks.push(chunk);
  } catch {
    return undefined;
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** Claude Code sends `HEAD /` before its first request, and takes any answer. */
function sendElsewhere(incoming: IncomingMessage, response: ServerResponse, path: string): void {
  response.writeHead(path === '/' ? 200 : 404, { 'content-type': 'application/json' });
  response.end(
    incoming.method === 'HEAD' ? undefined : JSON.stringify({ error: { type: 'not_found_error' } }),
  );
}

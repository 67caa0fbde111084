import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Measurement } from '../alternate.js';
import { BENCH_KEY, type BenchPlace } from '../bench-place.js';
import { nextTag, taggedMessage } from '../timing-model.js';
import { PROBE_TMUX_ENV } from './control-client.js';
import { SocketClient } from './socket-client.js';

interface Frame {
  readonly id?: number;
  readonly method?: string;
  readonly params?: { readonly threadId?: string; readonly item?: { readonly type?: string } };
  readonly result?: Reply;
  readonly error?: { readonly message: string };
}

interface Reply {
  readonly thread?: { readonly id: string; readonly path: string };
}

/** The smallest client of an app-server of its own: spawn, WebSocket, JSON-RPC. */
export class CodexServer {
  readonly socketPath: string;
  readonly #child: ChildProcess;
  #client: SocketClient | undefined;
  #lastCall = 0;
  readonly #calls = new Map<number, (frame: Frame) => void>();
  readonly #listeners = new Set<(frame: Frame, at: number) => void>();

  private constructor(child: ChildProcess, socketPath: string) {
    this.#child = child;
    this.socketPath = socketPath;
  }

  /** Spawns an app-server with the bench's model and initializes a connection to it. */
  static async start(place: BenchPlace, socketPath: string): Promise<CodexServer> {
    const child = spawn(
      place.cli.binary,
      ['app-server', '--listen', `unix://${socketPath}`, ...planCodexModel(place)],
      { env: codexEnv(place), cwd: place.place.workingDir, stdio: 'ignore' },
    );
    const server = new CodexServer(child, socketPath);
    await server.#connect();
    await server.call('initialize', {
      clientInfo: { name: 'probe', title: 'probe', version: '0' },
      capabilities: { experimentalApi: true },
    });
    server.#send({ method: 'initialized' });
    return server;
  }

  async call(method: string, params: object): Promise<Reply> {
    this.#lastCall += 1;
    const id = this.#lastCall;
    const frame = await new Promise<Frame>((resolve) => {
      this.#calls.set(id, resolve);
      this.#send({ id, method, params });
    });
    if (frame.error) throw new Error(`${method}: ${frame.error.message}`);
    return frame.result ?? {};
  }

  async startThread(place: BenchPlace): Promise<{ readonly id: string; readonly path: string }> {
    const { thread } = await this.call('thread/start', threadSettings(place));
    if (!thread) throw new Error('The app-server started no thread.');
    return thread;
  }

  async resumeThread(place: BenchPlace, threadId: string): Promise<void> {
    await this.call('thread/resume', { threadId, excludeTurns: true, ...threadSettings(place) });
  }

  /** One turn: `answer` is the completed item, `durable` the completed turn. */
  async turn(threadId: string, start = performance.now()): Promise<Measurement> {
    const moments = { answer: Number.NaN };
    const done = new Promise<number>((resolve) => {
      const listener = ({ method, params }: Frame, at: number) => {
        if (params?.threadId !== threadId) return;
        if (method === 'item/completed' && params.item?.type === 'agentMessage') {
          moments.answer = at - start;
        } else if (method === 'turn/completed') {
          this.#listeners.delete(listener);
          resolve(at - start);
        }
      };
      this.#listeners.add(listener);
    });
    const input = [{ type: 'text', text: taggedMessage(nextTag()), text_elements: [] }];
    await this.call('turn/start', { threadId, input });
    return { durable: await done, ...moments };
  }

  async stop(): Promise<void> {
    this.#client?.close();
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const ended = once(this.#child, 'exit');
    this.#child.kill('SIGKILL');
    await ended;
  }

  async #connect(): Promise<void> {
    while (!this.#client) {
      if (this.#child.exitCode !== null) throw new Error("The probe's app-server ended at once.");
      this.#client = await SocketClient.open(this.socketPath, (text) => this.#take(text)).catch(
        () => undefined,
      );
      if (!this.#client) await sleep(5);
    }
  }

  #send(frame: object): void {
    this.#client?.send(JSON.stringify(frame));
  }

  #take(text: string): void {
    const at = performance.now();
    const frame: Frame = JSON.parse(text);
    if (frame.id === undefined || frame.method !== undefined) {
      for (const listener of this.#listeners) listener(frame, at);
      return;
    }
    this.#calls.get(frame.id)?.(frame);
    this.#calls.delete(frame.id);
  }
}

/** Environment of a bare Codex in the bench's home. */
export function codexEnv(place: BenchPlace): Record<string, string> {
  return {
    ...PROBE_TMUX_ENV,
    HOME: place.place.home,
    CODEX_HOME: place.cliHome,
    PROBE_KEY: BENCH_KEY,
  };
}

/** Options that make a bare Codex talk to the bench's model. */
export function planCodexModel({ model }: BenchPlace): string[] {
  const settings = [
    'model_provider="probe"',
    'model_providers.probe.name="probe"',
    `model_providers.probe.base_url="${model.baseUrl}/v1"`,
    'model_providers.probe.wire_api="responses"',
    'model_providers.probe.env_key="PROBE_KEY"',
    'check_for_update_on_startup=false',
  ];
  return settings.flatMap((setting) => ['-c', setting]);
}

function threadSettings({ place, fixture }: BenchPlace) {
  const { workingDir: cwd } = place;
  return { cwd, model: fixture.model, approvalPolicy: 'on-request', sandbox: 'workspace-write' };
}

import { writeFileSync } from 'node:fs';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { listModelProviders, providerCapabilities } from '@holdfast/provider-core';
import type {
  FailureName,
  HandleJson,
  HistoryConfig,
  HistorySubject,
  HistoryTurnOptions,
  LedgerTools,
  LedgerTrick,
  RunningTurn,
  SpokenMessage,
  SubjectTurn,
  ToolServerKind,
} from '@holdfast/provider-core/certification';
import { type LedgerHttpServer, startLedgerHttpServer } from '../../harness/ledger-http-server.js';
import { victimPath } from '../../harness/ledger-tools.js';
import { type ModelLifetime, startModelLifetime } from '../../harness/model-lifetime.js';
import { createPlace, type Place } from '../../harness/place.js';
import { findProcessesOf, killUntilGone } from '../../harness/processes.js';
import { failureOf } from '../../harness/providers/failure-of.js';
import type { ModelApiFixture } from '../../harness/providers/model-apis.js';
import { waitFor } from '../../harness/wait-for.js';
import type { WorkerAction, WorkerCommand } from '../../harness/worker/worker-command.js';
import { startWorker, type WorkerProcess } from '../../harness/worker-process.js';

/** What may be done to the machine before each call, so that a proof is seen failing. */
export type Tamper = (subject: ApiSubject, command: WorkerCommand) => WorkerCommand;

/** An agent over one model API, with folders, a model and tool servers of its own. */
export class ApiSubject implements HistorySubject, AsyncDisposable {
  readonly capabilities;
  readonly provider: string;
  readonly model = 'scripted-model';
  readonly place: Place;
  readonly lifetime: ModelLifetime;
  readonly #api: ModelApiFixture;
  readonly #tamper: Tamper | undefined;
  readonly #workers = new Set<WorkerProcess>();
  /** What each session was started with. */
  readonly #configs = new Map<string, HistoryConfig>();
  #http: LedgerHttpServer | undefined;

  private constructor(
    api: ModelApiFixture,
    place: Place,
    lifetime: ModelLifetime,
    tamper?: Tamper,
  ) {
    this.#api = api;
    this.#tamper = tamper;
    this.provider = api.provider;
    this.capabilities = providerCapabilities(api.provider);
    this.place = place;
    this.lifetime = lifetime;
  }

  static async create(api: ModelApiFixture, tamper?: Tamper): Promise<ApiSubject> {
    return new ApiSubject(api, await createPlace(), await startModelLifetime(), tamper);
  }

  get otherProvider(): string {
    const other = listModelProviders().find((id) => id !== this.provider);
    if (!other) throw new Error('provider-core has one model API alone.');
    return other;
  }

  start = (message: string, options?: HistoryTurnOptions): Promise<SubjectTurn> =>
    this.begin(undefined, message, options).finished;

  continue = (
    handle: HandleJson,
    message: string,
    options?: HistoryTurnOptions,
  ): Promise<SubjectTurn> => this.begin(handle, message, options).finished;

  begin = (
    handle: HandleJson | undefined,
    message: string,
    { config, images, decisions, freezeAt, dieAt, limits, ...options }: HistoryTurnOptions = {},
  ): RunningTurn => {
    // An agent has its limits for all of its turns.
    const agentConfig = { ...this.#config(handle, config), limits };
    const { provider } = this;
    const action: WorkerAction = handle
      ? { type: 'continue', provider, handle, agentConfig, message, options }
      : { type: 'start', provider, config: agentConfig, message, options };
    const env = {
      ...(freezeAt && { HOLDFAST_FREEZE_STEP: `${freezeAt}:1` }),
      ...(dieAt && { HOLDFAST_FAULT_STEP: `${dieAt}:1` }),
    };
    return this.#runningTurn({ action, images, decisions }, env, config);
  };

  converse = (
    handle: HandleJson | null | undefined,
    messages: readonly SpokenMessage[],
    { config, ...options }: HistoryTurnOptions = {},
  ): Promise<SubjectTurn> => {
    const given = handle ?? undefined;
    const agentConfig = this.#config(given, config);
    const { provider } = this;
    const action = {
      type: 'converse',
      provider,
      handle: given,
      agentConfig,
      messages,
      options,
    } as const;
    return this.#runningTurn({ action }, {}, config).finished;
  };

  continueWithoutHandle = (message: string): Promise<unknown> => {
    const { provider } = this;
    const agentConfig = this.#config();
    const action = { type: 'continue_without_handle', provider, agentConfig, message } as const;
    return this.#run({ action });
  };

  askBelow = (handle: HandleJson | undefined, message: string): Promise<unknown> => {
    const { provider, model } = this;
    const config = { provider, workingDir: this.place.workingDir, model };
    const options = {};
    const below = handle?.['provider'] as HandleJson | undefined;
    const action: WorkerAction = below
      ? { type: 'continue', provider, handle: below, agentConfig: config, message, options }
      : { type: 'start', provider, config, message, options };
    return this.#run({ action, layer: 'provider-core' });
  };

  enqueue = async (handle: HandleJson, messages: readonly string[], agentId: string) => {
    const worker = this.#queue(handle, messages, agentId);
    await worker.handle;
    worker.result.catch(() => {});
    return worker;
  };

  drain = async (handle: HandleJson, agentId: string): Promise<void> => {
    const { result } = this.#queue(handle, [], agentId);
    const { queued } = (await result) as { readonly queued: number };
    if (queued > 0) throw new Error(`${queued} message(s) still wait in the queue.`);
  };

  close = (
    handle: HandleJson,
    { archive }: { readonly archive?: boolean } = {},
  ): Promise<{ readonly archived: boolean }> => {
    const { provider } = this;
    const action = { type: 'close', provider, handle, agentConfig: this.#config(handle), archive };
    return this.#run({ action: action as WorkerAction }) as Promise<{ readonly archived: boolean }>;
  };

  transcriptOf = (handle: HandleJson): string =>
    join(this.place.stateDir, 'api', sessionOf(handle), 'transcript.jsonl');

  removeTranscript = async (handle: HandleJson): Promise<void> => {
    await rename(this.transcriptOf(handle), join(this.place.root, `gone-${crypto.randomUUID()}`));
  };

  damageTranscript = async (handle: HandleJson): Promise<void> => {
    const path = this.transcriptOf(handle);
    const [first, ...rest] = (await readFile(path, 'utf8')).split('\n');
    await writeFile(path, [first, '{"type":"turn_sta', ...rest].join('\n'));
  };

  restartModel = () => this.lifetime.restart();
  holdModel = () => this.lifetime.hold();
  modelRequests = () => this.lifetime.requests();
  waitUntil = (awaited: string, probe: () => boolean | Promise<boolean>) => waitFor(awaited, probe);
  livingProcesses = () => findProcessesOf(this.place.root);
  createFolder = () => this.place.createFolder('folder');
  failure = (name: FailureName) => failureOf(this.#api.protocol, name);

  tools = async (kind: ToolServerKind): Promise<LedgerTools> => {
    const name = `${kind}_ledger`;
    const call = (tool: string) => (tag: string, trick?: LedgerTrick) => ({
      name: `mcp__${name}__${tool}`,
      input: { tag, ...(trick && { trick }) },
    });
    const config: HistoryConfig = {
      mcpServers: { [name]: await this.#toolServer(kind) },
      toolPolicy: { permissions: 'full' },
    };
    const toolName = `mcp__${name}__append`;
    return { config, append: call('append'), look: call('look'), toolName };
  };

  ledger = async (): Promise<readonly string[]> => {
    const text = await readFile(this.#ledger, 'utf8').catch(() => '');
    return text.split('\n').filter((line) => line !== '');
  };

  /** Fails if anything of ours still lives. Leaves nothing behind either way. */
  async [Symbol.asyncDispose](): Promise<void> {
    for (const worker of this.#workers) await worker.kill();
    const isGone = async () => (await this.livingProcesses()).length === 0;
    await waitFor('the end of every tool server', isGone).catch(() => {});
    const left = (await this.livingProcesses()).map(({ pid, command }) => `${pid} ${command}`);
    await killUntilGone(this.livingProcesses);
    await this.#http?.stop();
    const failure = await this.lifetime.stop().catch((error: unknown) => error);
    if (process.env['HOLDFAST_KEEP']) process.stderr.write(`kept ${this.place.root}\n`);
    else await this.place.remove();
    if (left.length > 0) throw new Error(`Left over: ${left.join('; ')}`);
    if (failure !== undefined) throw failure;
  }

  /** Where the provider's package finds the model. */
  get baseUrl(): string {
    return this.lifetime.baseUrl + this.#api.path;
  }

  get #ledger(): string {
    return join(this.place.root, 'ledger');
  }

  async #toolServer(kind: ToolServerKind) {
    if (kind === 'http') {
      this.#http ??= await startLedgerHttpServer(this.#ledger);
      return { url: this.#http.url };
    }
    const program = fileURLToPath(new URL('./ledger-server.js', import.meta.url));
    return { command: process.execPath, args: [program, this.#ledger] };
  }

  #config(handle?: HandleJson, config?: HistoryConfig): HandleJson {
    const known = handle && this.#configs.get(sessionOf(handle));
    return {
      model: this.model,
      apiKey: 'loopback-key',
      baseUrl: this.baseUrl,
      workingDir: this.place.workingDir,
      ...(config ?? known),
    };
  }

  #queue(handle: HandleJson, messages: readonly string[], agentId: string): WorkerProcess {
    const { provider } = this;
    const agentConfig = { ...this.#config(handle), agentId };
    const action = { type: 'queue', provider, handle, agentConfig, messages } as const;
    return this.#startWorker({ action });
  }

  #run(command: WorkerPart): Promise<unknown> {
    return this.#startWorker(command).result;
  }

  #runningTurn(
    command: WorkerPart,
    env: Readonly<Record<string, string>>,
    config: HistoryConfig | undefined,
  ): RunningTurn {
    const worker = this.#startWorker(command, env);
    if (config)
      worker.handle.then(
        (handle) => this.#configs.set(sessionOf(handle), config),
        () => {},
      );
    const events = () => worker.events() as SubjectTurn['events'];
    const finished = worker.result.then((result) => {
      const { requests } = worker;
      return { ...(result as SubjectTurn), events: events(), requests: requests() };
    });
    finished.catch(() => {});
    return { ...worker, finished, events };
  }

  #startWorker(
    { layer = 'agent', ...part }: WorkerPart,
    env: Readonly<Record<string, string>> = {},
  ): WorkerProcess {
    const { stateDir, home } = this.place;
    const asked = { ...part, layer, stateDir };
    const worker = startWorker(this.#tamper?.(this, asked) ?? asked, { home, env });
    writeFileSync(victimPath(this.#ledger), String(worker.pid));
    this.#workers.add(worker);
    void worker.exited.then(() => this.#workers.delete(worker));
    return worker;
  }
}

type WorkerPart = Pick<WorkerCommand, 'action' | 'images' | 'decisions'> & {
  readonly layer?: WorkerCommand['layer'];
};

function sessionOf(handle: HandleJson): string {
  return String(handle['session_id']);
}

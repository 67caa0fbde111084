import { readdir, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findProvider } from '@holdfast/provider-core';
import type {
  CertificationSubject,
  Claims,
  HandleJson,
  LossDepth,
  RunningTurn,
  SubjectTurn,
  SubjectTurnOptions,
} from '@holdfast/provider-core/certification';
import { type DoomedSession, killSession, killWhenWritten } from './kill-session.js';
import { findLeftovers } from './leftovers.js';
import { type ModelLifetime, startModelLifetime } from './model-lifetime.js';
import { orphanLease } from './orphan-lease.js';
import { createPlace, type Place } from './place.js';
import { findProcessesOf, killUntilGone } from './processes.js';
import { getProviderFixture } from './providers/index.js';
import type { ProviderFixture } from './providers/provider-fixture.js';
import type { RealSubjectOptions, RealTurnOptions } from './real-subject-options.js';
import { sendOnceShown } from './send-once-shown.js';
import { createTmuxDoor, type TmuxDoor } from './tmux.js';
import { waitFor } from './wait-for.js';
import type { WorkerAction } from './worker/worker-command.js';
import { startWorker, type WorkerProcess } from './worker-process.js';

/** A layer over a real CLI in real tmux, with folders, a model and a tmux server of its own. */
export class RealSubject implements CertificationSubject, AsyncDisposable {
  readonly claims: Claims;
  readonly provider: string;
  readonly place: Place;
  readonly tmux: TmuxDoor;
  readonly lifetime: ModelLifetime;
  readonly fixture: ProviderFixture;
  readonly #options: RealSubjectOptions;
  #binary: string;
  #deadlineMs = 60_000;
  #isKept = false;
  readonly #workers = new Set<WorkerProcess>();
  /** The last handle of every session, to be closed in the end. */
  readonly #open = new Map<string, HandleJson>();

  private constructor(options: RealSubjectOptions, place: Place, lifetime: ModelLifetime) {
    this.#options = options;
    this.place = place;
    this.lifetime = lifetime;
    this.provider = options.cli.provider;
    this.#binary = options.cli.binary;
    this.fixture = getProviderFixture(this.provider);
    this.tmux = createTmuxDoor(place.stateDir);
    const definition = findProvider(this.provider);
    if (!definition) throw new Error(`provider-core has no provider ${this.provider}.`);
    this.claims = definition;
  }

  /** Sets up the home, the working directory and the model. */
  static async create(options: RealSubjectOptions): Promise<RealSubject> {
    const place = await createPlace();
    const subject = new RealSubject(options, place, await startModelLifetime());
    const prepare = options.prepareCliHome ?? subject.fixture.prepareCliHome;
    await prepare(subject.cliHome, place);
    return subject;
  }

  get cliHome(): string {
    return join(this.place.home, this.fixture.cliHomeName);
  }
  get workingDir(): string {
    return this.place.workingDir;
  }
  get model(): string {
    return this.fixture.model;
  }
  get unattended(): HandleJson {
    return this.fixture.unattended;
  }
  get withoutRetries(): HandleJson {
    return withEnv(this.fixture, this.fixture.withoutRetries);
  }
  get forcedPage(): HandleJson {
    return withEnv(this.fixture, this.fixture.forcedPage);
  }
  get mcpFixture() {
    const program = fileURLToPath(new URL('./mcp-fixture.js', import.meta.url));
    const server = { command: process.execPath, args: [program] };
    return { config: { mcpServers: { lantern: server } }, toolName: 'light_the_lantern' };
  }

  /** Starts the CLI through another program from here on. */
  useBinary(binary: string): void {
    this.#binary = binary;
  }

  /** Leaves the folders in place for whoever looks into a failure, when the run was asked to. */
  keepPlace(): void {
    this.#isKept = process.env['HOLDFAST_KEEP'] === 'failed';
  }

  /** How long a condition is waited for. */
  useDeadline(deadlineMs: number): void {
    this.#deadlineMs = deadlineMs;
  }

  /** The configuration every session is started with. */
  config(over: HandleJson = {}): HandleJson {
    return {
      provider: this.provider,
      workingDir: this.workingDir,
      model: this.model,
      cliHome: this.cliHome,
      binary: this.#binary,
      endpoint: { baseUrl: this.lifetime.baseUrl + this.fixture.basePath, apiKey: 'loopback-key' },
      env: this.fixture.env,
      ...this.#options.config,
      ...over,
    };
  }

  start = (message: string, options?: SubjectTurnOptions): Promise<SubjectTurn> =>
    this.begin(undefined, message, options).finished;

  continue = (
    handle: HandleJson,
    message: string,
    options?: RealTurnOptions,
  ): Promise<SubjectTurn> => this.begin(handle, message, options).finished;

  begin = (
    handle: HandleJson | undefined,
    message: string,
    options: RealTurnOptions = {},
  ): RunningTurn => {
    const { config, freezeAt, dieAt, env, ...turn } = options;
    const over = config as HandleJson | undefined;
    const action: WorkerAction = handle
      ? {
          type: 'continue',
          provider: this.provider,
          handle,
          config: over && this.config({ ...this.#startedWith(handle), ...over }),
          agentConfig: this.config(this.#startedWith(handle)),
          message,
          options: turn,
        }
      : {
          type: 'start',
          provider: this.provider,
          config: this.config(over),
          message,
          options: turn,
        };
    const worker = this.#startWorker(action, {
      ...env,
      ...(freezeAt && { HOLDFAST_FREEZE_STEP: `${freezeAt}:1` }),
      ...(dieAt && { HOLDFAST_FAULT_STEP: `${dieAt}:1` }),
    });
    if (!handle)
      worker.handle.then(
        (known) => this.#remember(known, over),
        () => {},
      );
    return this.#runningTurn(worker);
  };

  inspect = async (handle: HandleJson): Promise<'present' | 'absent' | 'unknown'> => {
    const action = { type: 'inspect' as const, handle: this.providerFields(handle) };
    const worker = this.#startWorker(action, {}, 'provider-core');
    const { state } = (await worker.result) as { readonly state: 'present' | 'absent' | 'unknown' };
    return state;
  };

  close = async (handle: HandleJson): Promise<void> => {
    const agentConfig = this.config(this.#startedWith(handle));
    const action = { type: 'close' as const, provider: this.provider, handle, agentConfig };
    await this.#startWorker(action).result;
    this.#open.delete(this.nativeSessionId(handle));
  };

  lose = (handle: HandleJson, depth: LossDepth) => killSession(this.#doomed(handle), depth);
  killAllWhenWritten = (handle: HandleJson, path: string) =>
    killWhenWritten(this.#doomed(handle), path);

  livingProcesses = () => findProcessesOf(this.place.root);
  restartModel = () => this.lifetime.restart();
  modelRequests = () => this.lifetime.requests();
  waitUntil = (awaited: string, probe: () => boolean | Promise<boolean>) =>
    waitFor(awaited, probe, { deadlineMs: this.#deadlineMs });
  recordedMessages = (handle: HandleJson) =>
    this.fixture.readUserMessages(this.cliHome, this.nativeSessionId(handle));
  nativeSessions = async () => [...(await this.fixture.findRecords(this.cliHome)).keys()];
  createFolder = () => this.place.createFolder('folder');
  hasFiles = async (folder: string) => (await readdir(folder)).length > 0;
  createVirginCliHome = () => this.place.createFolder('virgin');
  writeCall = (path: string) => this.fixture.writeCall(path);
  shellCall = (command: string) => this.fixture.shellCall(command);
  orphanLease = (handle: HandleJson) => orphanLease(this.cliHome, this.nativeSessionId(handle));

  removeNativeHistory = async (handle: HandleJson): Promise<void> => {
    const records = await this.fixture.findRecords(this.cliHome);
    const path = records.get(this.nativeSessionId(handle));
    if (path === undefined) throw new Error('The provider has no record that could be removed.');
    await rename(path, join(await this.place.createFolder('removed'), 'record'));
  };

  leaveDraft = async (handle: HandleJson, text: string): Promise<void> => {
    await this.tmux.run('send-keys', '-t', `=${this.#tmuxSession(handle)}:`, '-l', '--', text);
  };
  sendOnceShown = (handle: HandleJson, sign: string, text: string): Promise<void> =>
    sendOnceShown(this.tmux, this.#tmuxSession(handle) ?? '', { sign, text });
  screen = (handle: HandleJson): Promise<string> =>
    this.tmux.run('capture-pane', '-p', '-t', `=${this.#tmuxSession(handle)}:`);

  providerFields = (handle: HandleJson): HandleJson =>
    this.#options.layer === 'agent' ? (handle['provider'] as HandleJson) : handle;

  withProviderFields = (handle: HandleJson, fields: HandleJson): HandleJson => {
    const changed = { ...this.providerFields(handle), ...fields };
    return this.#options.layer === 'agent' ? { ...handle, provider: changed } : changed;
  };

  nativeSessionId = (handle: HandleJson): string =>
    String(this.providerFields(handle)['native_session_id']);

  /** Closes every session, then fails if anything of ours still lives. Leaves nothing behind either way. */
  async [Symbol.asyncDispose](): Promise<void> {
    for (const worker of this.#workers) await worker.kill();
    const failures: unknown[] = [];
    for (const handle of [...this.#open.values()]) {
      await this.close(handle).catch((error: unknown) => failures.push(error));
    }
    const left = await findLeftovers(this.livingProcesses, this.tmux);
    await killUntilGone(this.livingProcesses);
    await this.lifetime.stop().catch((error: unknown) => failures.push(error));
    if (this.#isKept || process.env['HOLDFAST_KEEP'] === 'all')
      process.stderr.write(`kept ${this.place.root}\n`);
    else await this.place.remove();
    if (left.length > 0) failures.push(new Error(`Left over after close: ${left.join('; ')}`));
    if (failures.length > 0) throw failures[0];
  }

  #startWorker(
    action: WorkerAction,
    env: Readonly<Record<string, string>> = {},
    layer = this.#options.layer,
  ): WorkerProcess {
    const { stateDir, home } = this.place;
    const command = { layer, stateDir, action, plant: this.#options.plant };
    const worker = startWorker(command, { home, env });
    this.#workers.add(worker);
    void worker.exited.then(() => this.#workers.delete(worker));
    return worker;
  }

  #runningTurn(worker: WorkerProcess): RunningTurn {
    const finished = worker.result.then((result) => {
      const turn = { ...(result as SubjectTurn), events: worker.events() as SubjectTurn['events'] };
      this.#remember(turn.handle);
      return turn;
    });
    finished.catch(() => {});
    return { ...worker, finished, events: () => worker.events() as SubjectTurn['events'] };
  }

  readonly #startConfigs = new Map<string, HandleJson>();

  #remember(handle: HandleJson, startedWith?: HandleJson): void {
    const id = this.nativeSessionId(handle);
    this.#open.set(id, handle);
    if (startedWith) this.#startConfigs.set(id, startedWith);
  }

  #startedWith(handle: HandleJson): HandleJson {
    return this.#startConfigs.get(this.nativeSessionId(handle)) ?? {};
  }

  #doomed(handle: HandleJson): DoomedSession {
    const { stateDir } = this.place;
    const nativeSessionId = this.nativeSessionId(handle);
    return { stateDir, nativeSessionId, tmuxSession: this.#tmuxSession(handle), tmux: this.tmux };
  }

  #tmuxSession(handle: HandleJson): string | undefined {
    const latest = this.#open.get(this.nativeSessionId(handle)) ?? handle;
    const name = this.providerFields(latest)['tmux_session'];
    return typeof name === 'string' ? name : undefined;
  }
}

function withEnv({ env }: ProviderFixture, config: HandleJson): HandleJson {
  return { ...config, env: { ...env, ...(config['env'] as object | undefined) } };
}

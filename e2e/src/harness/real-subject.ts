import { readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type {
  CertificationSubject,
  HandleJson,
  LossDepth,
  RunningTurn,
  SubjectTurn,
  SubjectTurnOptions,
} from '@holdfast/provider-core/certification';
import { FixtureSubject } from './fixture-subject.js';
import { type DoomedSession, killSession, killWhenWritten } from './kill-session.js';
import { findLeftovers } from './leftovers.js';
import { type ModelLifetime, startModelLifetime } from './model-lifetime.js';
import { writeNewerBinary } from './newer-binary.js';
import { orphanLease } from './orphan-lease.js';
import { createPathWithoutTmux } from './path-without-tmux.js';
import { createPlace, type Place } from './place.js';
import { killUntilGone } from './processes.js';
import type { RealSubjectOptions, RealTurnOptions } from './real-subject-options.js';
import { sendOnceShown } from './send-once-shown.js';
import { waitFor } from './wait-for.js';
import type { WorkerAction, WorkerCommand } from './worker/worker-command.js';
import { startWorker, type WorkerProcess } from './worker-process.js';

/** A layer over a real CLI, driven one way, with folders, a model and a tmux server of its own. */
export class RealSubject extends FixtureSubject implements CertificationSubject, AsyncDisposable {
  readonly #options: RealSubjectOptions;
  #binary: string;
  #deadlineMs = 60_000;
  #isKept = false;
  /** Once a session was in a pane, whoever closes it needs tmux. */
  #usesTmux: boolean;
  readonly #workers = new Set<WorkerProcess>();
  /** The last handle of every session, to be closed in the end. */
  readonly #open = new Map<string, HandleJson>();

  private constructor(options: RealSubjectOptions, place: Place, lifetime: ModelLifetime) {
    super(options, place, lifetime);
    this.#options = options;
    this.#binary = options.cli.binary;
    this.#usesTmux = this.claims.way === 'tmux';
  }

  /** Sets up the home, the working directory and the model. */
  static async create(options: RealSubjectOptions): Promise<RealSubject> {
    const place = await createPlace();
    const subject = new RealSubject(options, place, await startModelLifetime());
    const prepare = options.prepareCliHome ?? subject.fixture.prepareCliHome;
    await prepare(subject.cliHome, place);
    if (subject.claims.way !== 'tmux') await createPathWithoutTmux(subject.#pathWithoutTmux);
    return subject;
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
      ...(this.claims.way === 'per_turn' && { processLifetime: 'turn' }),
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
    const { config, freezeAt, dieAt, env, images, decisions, tmuxOnPath, ...turn } = options;
    const over = config as HandleJson | undefined;
    const { layer } = this.#options;
    const action: WorkerAction = handle
      ? {
          type: 'continue',
          provider: this.provider,
          handle,
          config: over && this.config({ ...this.#startedWith(handle), ...over }),
          agentConfig: this.#agentConfig(this.#startedWith(handle), turn),
          message,
          options: turn,
        }
      : {
          type: 'start',
          provider: this.provider,
          config: layer === 'agent' ? this.#agentConfig(over, turn) : this.config(over),
          message,
          options: { transport: this.#ownTransport, ...turn },
        };
    const tmux = tmuxOnPath ?? (turn.transport === 'tmux' || this.claims.way === 'tmux');
    this.#usesTmux ||= tmux;
    const settings = {
      tmux,
      env: {
        ...env,
        ...(freezeAt && { HOLDFAST_FREEZE_STEP: `${freezeAt}:1` }),
        ...(dieAt && { HOLDFAST_FAULT_STEP: `${dieAt}:1` }),
      },
    };
    const worker = this.#startWorker({ action, images, decisions }, settings);
    if (!handle)
      worker.handle.then(
        (known) => this.#remember(known, over),
        () => {},
      );
    return this.#runningTurn(worker);
  };

  inspect = async (handle: HandleJson): Promise<'present' | 'absent' | 'unknown'> => {
    const action = { type: 'inspect' as const, handle: this.providerFields(handle) };
    const worker = this.#startWorker({ action }, {}, 'provider-core');
    const { state } = (await worker.result) as { readonly state: 'present' | 'absent' | 'unknown' };
    return state;
  };

  close = async (
    handle: HandleJson,
    { archive }: { readonly archive?: boolean } = {},
  ): Promise<{ readonly archived: boolean }> => {
    const agentConfig = this.#agentConfig(this.#startedWith(handle));
    const { provider } = this;
    const action = { type: 'close' as const, provider, handle, agentConfig, archive };
    const result = await this.#startWorker({ action }).result;
    this.#open.delete(this.nativeSessionId(handle));
    return result as { readonly archived: boolean };
  };

  lose = (handle: HandleJson, depth: LossDepth) => killSession(this.#doomed(handle), depth);
  killAllWhenWritten = (handle: HandleJson, path: string) =>
    killWhenWritten(this.#doomed(handle), path);

  waitUntil = (awaited: string, probe: () => boolean | Promise<boolean>) =>
    waitFor(awaited, probe, { deadlineMs: this.#deadlineMs });
  recordedMessages = (handle: HandleJson) =>
    this.fixture.readUserMessages(this.cliHome, this.nativeSessionId(handle));
  orphanLease = (handle: HandleJson) => orphanLease(this.cliHome, this.nativeSessionId(handle));
  newerBinary = async () => ({
    binary: await writeNewerBinary(
      this.#options.cli,
      this.fixture.newerForm,
      await this.place.createFolder('newer'),
    ),
  });

  ageSession = async (handle: HandleJson, days: number): Promise<void> => {
    const id = this.nativeSessionId(handle);
    const entries = await readdir(this.place.stateDir, { recursive: true });
    const name = entries.find((entry) => entry.includes(id) && entry.endsWith('launch.json'));
    if (!name) throw new Error(`The state directory has no launch record of ${id}.`);
    const path = join(this.place.stateDir, name);
    const then = new Date(Date.now() - days * 24 * 60 * 60 * 1_000).toISOString();
    const text = await readFile(path, 'utf8');
    const aged = text.replace(/("updated_at"\s*:\s*")[^"]*"/, `$1${then}"`);
    if (aged === text) throw new Error(`${path} does not say when the session was last used.`);
    await writeFile(path, aged);
  };

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

  get #pathWithoutTmux(): string {
    return join(this.place.root, 'bin');
  }

  get #ownTransport(): 'tmux' | 'structured' {
    return this.claims.way === 'tmux' ? 'tmux' : 'structured';
  }

  /** What an agent is made with: the session's configuration, how it is driven, and the limits of the one turn it is made for here. */
  #agentConfig(over?: HandleJson, { limits }: Pick<RealTurnOptions, 'limits'> = {}): HandleJson {
    return { transport: this.#ownTransport, ...this.config(over), ...(limits && { limits }) };
  }

  #startWorker(
    command: Pick<WorkerCommand, 'action' | 'images' | 'decisions'>,
    { env = {}, tmux = this.#usesTmux }: WorkerPlace = {},
    layer = this.#options.layer,
  ): WorkerProcess {
    const { stateDir, home } = this.place;
    const { plant, node } = this.#options;
    const path = tmux || this.claims.way === 'tmux' ? {} : { PATH: this.#pathWithoutTmux };
    const settings = { home, env: { ...path, ...env }, node };
    const worker = startWorker({ ...command, layer, stateDir, plant }, settings);
    this.#workers.add(worker);
    void worker.exited.then(() => this.#workers.delete(worker));
    return worker;
  }

  #runningTurn(worker: WorkerProcess): RunningTurn {
    const events = () => worker.events() as SubjectTurn['events'];
    const finished = worker.result.then((result) => {
      const { requests } = worker;
      const turn = { ...(result as SubjectTurn), events: events(), requests: requests() };
      this.#remember(turn.handle);
      return turn;
    });
    finished.catch(() => {});
    return { ...worker, finished, events };
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

interface WorkerPlace {
  readonly env?: Readonly<Record<string, string>>;
  readonly tmux?: boolean;
}

import { createHash, randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { listCodingAdapters } from '@holdfast/agent';
import {
  type HandleJson,
  type ModelRequest,
  type ScriptedModel,
  startScriptedModel,
} from '@holdfast/provider-core/certification';
import type { CliUnderTest } from '../harness/cli-under-test.js';
import { createPlace, type Place } from '../harness/place.js';
import { findProcessesOf, killUntilGone } from '../harness/processes.js';
import { getProviderFixture } from '../harness/providers/index.js';
import { waitFor } from '../harness/wait-for.js';
import { type CodingProcess, type FinishedJob, startCodingProcess } from './coding-process.js';
import { type BundledRepository, bundleRepository } from './git-bundle.js';
import { scriptCoder } from './script-coder.js';

/** What a conversation is for. */
export type Role = 'implement' | 'review';

/** The CLI of each role. */
export type Pair = Readonly<Record<Role, CliUnderTest>>;

/** How the CLIs are given a model and a login; the scripted model and a made-up key when absent. */
export interface BenchOptions {
  readonly pair: Pair;
  /** Sets a home up with a person's login; then no model is scripted. */
  /** A scripted model beside the login; no login is used up by it. */
  readonly isScripted?: boolean | undefined;
  readonly login?:
    | ((cli: CliUnderTest, cliHome: string, place: Place) => Promise<void>)
    | undefined;
}

const BASE = { 'README.md': '# Greetings\n', 'src/greeting.txt': 'nothing yet\n' };
const DIGEST = `sha256:${createHash('sha256').update('the boundary of a test').digest('hex')}`;

/** A repository, a home for each role, a model, and services that come and go. */
export class ThreadBench implements AsyncDisposable {
  readonly owner = { kind: 'workflow', processId: randomUUID() } as const;
  readonly #services: CodingProcess[] = [];
  readonly #options: BenchOptions;
  #workerFile: string | undefined;

  private constructor(
    options: BenchOptions,
    readonly place: Place,
    readonly repository: BundledRepository,
    readonly models: Readonly<Record<Role, ScriptedModel>>,
  ) {
    this.#options = options;
  }

  static async create(options: BenchOptions): Promise<ThreadBench> {
    const place = await createPlace();
    const repository = await bundleRepository(await place.createFolder('source'), BASE);
    const implement = await startScriptedModel({ script: scriptCoder });
    const review = await startScriptedModel({ script: scriptCoder });
    const bench = new ThreadBench(options, place, repository, { implement, review });
    for (const role of ['implement', 'review'] as const) await bench.#prepareHome(role);
    return bench;
  }

  /** Has the jobs of the services to come run by that program; by the installed one when absent. */
  useWorker(workerFile: string | undefined): void {
    this.#workerFile = workerFile;
  }

  /** Starts a service in place of the one before, which is killed: nothing but what is on disk goes on. */
  async restartService(): Promise<CodingProcess> {
    await this.#services.at(-1)?.kill();
    const service = await startCodingProcess(this.#serviceOptions(), this.place.home);
    this.#services.push(service);
    return service;
  }

  /** Runs a job in a service of its own. */
  async run(
    jobId: string,
    input: HandleJson,
  ): Promise<FinishedJob & { readonly servicePid: number }> {
    const service = await this.restartService();
    return { ...(await service.run({ jobId, input, owner: this.owner })), servicePid: service.pid };
  }

  /** What the CLI of a role asked its model, which is its own. */
  requestsOf(role: Role): readonly ModelRequest[] {
    return this.models[role].requests();
  }

  /** Everything that still runs, once what may take a moment has ended. */
  async findLeftovers(): Promise<readonly string[]> {
    for (const service of this.#services) await service.kill();
    const find = () => findProcessesOf(this.place.root);
    const isQuiet = async () => (await find()).length === 0;
    await waitFor('the end of every process', isQuiet, { deadlineMs: 10_000 }).catch(() => {});
    return (await find()).map(({ pid, command }) => `${pid} ${command}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const service of this.#services) await service.kill();
    await killUntilGone(() => findProcessesOf(this.place.root));
    for (const model of Object.values(this.models)) await model.stop();
    if (process.env['HOLDFAST_KEEP'] === undefined) await this.place.remove();
    else process.stderr.write(`kept ${this.place.root}\n`);
  }

  get #isScripted(): boolean {
    return this.#options.isScripted ?? this.#options.login === undefined;
  }

  /** The CLI's home for a role. */
  homeOf(role: Role): string {
    const { cliHomeName } = getProviderFixture(this.#options.pair[role].provider);
    return join(this.place.home, role, cliHomeName);
  }

  async #prepareHome(role: Role): Promise<void> {
    const cli = this.#options.pair[role];
    const { login = (_, ...rest) => getProviderFixture(cli.provider).prepareCliHome(...rest) } =
      this.#options;
    await mkdir(this.homeOf(role), { recursive: true, mode: 0o700 });
    await login(cli, this.homeOf(role), this.place);
  }

  #serviceOptions() {
    const { root } = this.place;
    const { repositoryUriPrefix } = this.repository;
    const runners = (['implement', 'review'] as const).map((role) => this.#runnerOf(role));
    const bubblewrap = Object.values(this.#options.pair).map(findBubblewrap).find(Boolean);
    const workspacesDir = join(root, 'w');
    return {
      dataDir: join(root, 'data'),
      coding: {
        ...{ host: 'bench', origin: 'threads', boundary: DIGEST, repositoryUriPrefix },
        ...{ runners, workspacesDir, workerFile: this.#workerFile },
        ...(bubblewrap !== undefined && { bubblewrap }),
      },
    };
  }

  #runnerOf(role: Role) {
    const { provider, binary } = this.#options.pair[role];
    const { model, basePath, env } = getProviderFixture(provider);
    const found = listCodingAdapters().find((one) => one.provider === provider);
    if (!found) throw new Error(`${provider} has no coding adapter.`);
    const { adapterId, permissionModes } = found.adapter;
    const permissionMode = permissionModes['agent-policy']?.[0];
    const endpoint = { baseUrl: this.models[role].baseUrl + basePath, apiKey: 'loopback-key' };
    const scripted = { cli: { binary, endpoint, env }, models: [model] };
    const { cli, models } = this.#isScripted ? scripted : { cli: { binary, env }, models: [] };
    return {
      ...{ runnerId: runnerIdOf(role), adapter: adapterId, cli },
      cliHomes: { [role]: this.homeOf(role) },
      policy: {
        ...{ permissionSource: 'agent-policy', permissionMode },
        ...(models.length > 0 && { allowedModels: models, defaultModel: models[0] }),
      },
    };
  }
}

/** The runner that serves a role. */
export function runnerIdOf(role: Role): string {
  return `personal-${role}`;
}

/** One that a CLI brings along, beside its own program. */
function findBubblewrap({ binary }: CliUnderTest): string | undefined {
  const path = join(dirname(dirname(binary)), 'codex-resources', 'bwrap');
  return existsSync(path) ? path : undefined;
}

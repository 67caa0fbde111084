import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { CodingAgentTurn, CodingProviderSessionHandle } from '@holdfast/provider-core';
import {
  closeCodingAgentSession,
  continueCodingAgentSession,
  startCodingAgentSession,
} from '@holdfast/provider-core';
import type { CliUnderTest } from '../harness/cli-under-test.js';
import { createPlace, type Place } from '../harness/place.js';
import { findProcessesOf, killUntilGone } from '../harness/processes.js';
import { getProviderFixture } from '../harness/providers/index.js';
import type { ProviderFixture } from '../harness/providers/provider-fixture.js';
import { createTmuxDoor, type TmuxDoor } from '../harness/tmux.js';
import { startTimingModel, type TimingModel } from './timing-model.js';

/** How a session of ours is driven. */
export type BenchWay = 'tmux' | 'structured' | 'per_turn';

/** Where one suite measures: a home, a model, our library and a second tmux server for the probes, all with one CLI. */
export class BenchPlace implements AsyncDisposable {
  readonly cli: CliUnderTest;
  readonly place: Place;
  readonly fixture: ProviderFixture;
  readonly model: TimingModel;
  readonly #sessions: {
    readonly handle: CodingProviderSessionHandle;
    readonly stateDir: string;
  }[] = [];
  readonly #disposables: AsyncDisposable[] = [];

  private constructor(cli: CliUnderTest, place: Place, model: TimingModel) {
    this.cli = cli;
    this.place = place;
    this.model = model;
    this.fixture = getProviderFixture(cli.provider);
  }

  /** Makes the place. The environment of this process becomes the one a CLI may see: ours hands it on. */
  static async create(cli: CliUnderTest, program: string): Promise<BenchPlace> {
    const place = await createPlace();
    scrubEnvironment(place.home);
    const made = new BenchPlace(cli, place, await startTimingModel(program));
    await made.fixture.prepareCliHome(made.cliHome, place);
    return made;
  }

  get cliHome(): string {
    return join(this.place.home, this.fixture.cliHomeName);
  }

  /** The tmux server that ours uses. */
  tmux(stateDir = this.place.stateDir): TmuxDoor {
    return createTmuxDoor(stateDir);
  }

  /** What every session of ours is started with. */
  get config() {
    return {
      workingDir: this.place.workingDir,
      model: this.fixture.model,
      cliHome: this.cliHome,
      binary: this.cli.binary,
      endpoint: { baseUrl: this.model.baseUrl + this.fixture.basePath, apiKey: BENCH_KEY },
    };
  }

  /** Starts a session of ours, which is closed with the place. */
  async start(
    message: string,
    stateDir = this.place.stateDir,
    way: BenchWay = 'tmux',
  ): Promise<CodingProviderSessionHandle> {
    const { handle } = await startCodingAgentSession({
      // The list of CLIs is data; the library checks that it has the provider.
      provider: this.cli.provider as Parameters<typeof startCodingAgentSession>[0]['provider'],
      transport: way === 'tmux' ? way : 'structured',
      config: { ...this.config, ...(way === 'per_turn' ? { processLifetime: 'turn' } : {}) },
      message,
      stateDir,
    });
    this.#sessions.push({ handle, stateDir });
    return handle;
  }

  /** Begins one turn of ours. */
  continue(
    handle: CodingProviderSessionHandle,
    message: string,
    stateDir = this.place.stateDir,
  ): CodingAgentTurn {
    return continueCodingAgentSession(handle, message, { stateDir });
  }

  /** Disposed with the place, last one first. */
  use<Resource extends AsyncDisposable>(resource: Resource): Resource {
    this.#disposables.push(resource);
    return resource;
  }

  /** The private folder of a session of ours: hooks, settings, spool. */
  async findFilesDir(handle: CodingProviderSessionHandle): Promise<string> {
    const { stateDir } = this.place;
    const entries = await readdir(stateDir, { recursive: true });
    const files = entries.find(
      (entry) => entry.includes(handle.nativeSessionId ?? '?') && entry.endsWith('settings.json'),
    );
    if (!files) throw new Error('The session has no private folder.');
    return join(stateDir, files, '..');
  }

  /** Ends whatever runs below the place, and removes it. */
  async [Symbol.asyncDispose](): Promise<void> {
    for (const resource of this.#disposables.reverse()) await resource[Symbol.asyncDispose]();
    for (const { handle, stateDir } of this.#sessions) {
      await closeCodingAgentSession(handle, { stateDir }).catch(() => {});
    }
    await this.model.stop();
    await killUntilGone(() => findProcessesOf(this.place.root));
    await this.place.remove();
  }
}

/** The key that every client shows to the model. */
export const BENCH_KEY = 'loopback-key';

/** Nothing of the person who runs the bench reaches a CLI: ours hands on what stands here. */
function scrubEnvironment(home: string): void {
  for (const name of Object.keys(process.env)) {
    if (!['PATH', 'LANG', 'TMPDIR', 'HOLDFAST_CLIS'].includes(name)) delete process.env[name];
  }
  process.env['HOME'] = home;
}

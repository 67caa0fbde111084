import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findProvider, listProviders } from '@holdfast/provider-core';
import {
  type Claims,
  claimsOf,
  type FailureName,
  type HandleJson,
} from '@holdfast/provider-core/certification';
import type { ModelLifetime } from './model-lifetime.js';
import type { Place } from './place.js';
import { findProcessesOf } from './processes.js';
import { getProviderFixture } from './providers/index.js';
import type { ProviderFixture } from './providers/provider-fixture.js';
import type { RealSubjectOptions } from './real-subject-options.js';
import { startStranger } from './stranger.js';
import { createTmuxDoor, type TmuxDoor } from './tmux.js';

/** What a subject has of its place, its model and its provider's fixture, before any session runs. */
export class FixtureSubject {
  readonly claims: Claims;
  readonly provider: string;
  readonly place: Place;
  readonly tmux: TmuxDoor;
  readonly lifetime: ModelLifetime;
  readonly fixture: ProviderFixture;

  protected constructor(
    { cli, way = 'tmux' }: RealSubjectOptions,
    place: Place,
    lifetime: ModelLifetime,
  ) {
    this.place = place;
    this.lifetime = lifetime;
    this.provider = cli.provider;
    this.fixture = getProviderFixture(this.provider);
    this.tmux = createTmuxDoor(place.stateDir);
    const definition = findProvider(this.provider);
    const claims = definition && claimsOf(definition, way, cli.version);
    if (!claims) throw new Error(`provider-core drives no ${this.provider} by ${way}.`);
    this.claims = claims;
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
  get asking(): HandleJson {
    return this.fixture.asking;
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
  get tellsReset(): boolean {
    return this.fixture.tellsReset;
  }
  get otherProvider(): string {
    const other = listProviders().find((id) => id !== this.provider);
    if (!other) throw new Error('provider-core has one provider alone.');
    return other;
  }

  livingProcesses = () => findProcessesOf(this.place.root);
  restartModel = () => this.lifetime.restart();
  holdModel = () => this.lifetime.hold();
  modelRequests = () => this.lifetime.requests();
  nativeSessions = async () => [...(await this.fixture.findRecords(this.cliHome)).keys()];
  createFolder = () => this.place.createFolder('folder');
  hasFiles = async (folder: string) => (await readdir(folder)).length > 0;
  createVirginCliHome = () => this.place.createFolder('virgin');
  shellCall = (command: string) => this.fixture.shellCall(command);
  writeCall = (path: string) => this.fixture.writeCall(path);
  askingCall = (path: string) => this.fixture.askingCall(path);
  backgroundCall = (command: string) => this.fixture.backgroundCall(command);
  questionCall = (question: string, labels: readonly string[]) =>
    this.fixture.questionCall(question, labels);
  failure = (name: FailureName) => this.fixture.failure(name);
  stopRetries = async () => {
    await this.fixture.stopRetries(this.cliHome);
    return this.withoutRetries;
  };
  compactingAt = async (tokens: number) =>
    withEnv(this.fixture, await this.fixture.compactingAt(this.cliHome, tokens));
  startStranger = () =>
    startStranger(this.place, this.claims.way === 'tmux' ? this.tmux : undefined);
}

function withEnv({ env }: ProviderFixture, config: HandleJson): HandleJson {
  return { ...config, env: { ...env, ...(config['env'] as object | undefined) } };
}

import type { ProviderCapabilities, Way } from '../spec/capabilities.js';
import type { CodingAdapter } from '../spec/coding-adapter.js';
import type { ModelProviderDefinition } from '../spec/model-port.js';
import type { ProviderDefinition } from '../spec/provider-definition.js';
import type { SessionConfig } from '../spec/session-config.js';
import * as builtIn from './index.js';
import { modelCapabilities } from './model-capabilities.js';
import * as builtInModels from './model-providers.js';
import { capabilitiesOf, declarationOf, listWays } from './ways.js';

type BuiltIn = (typeof builtIn)[keyof typeof builtIn];

/** The ids of the providers that come with the package. */
export type ProviderId = BuiltIn['id'];

/** The session config of one provider: an option it does not have is a compile error. */
export type ConfigOf<Id extends ProviderId> =
  Extract<BuiltIn, { readonly id: Id }> extends ProviderDefinition<infer Config, Id>
    ? Config
    : SessionConfig;

const definitions = new Map<string, ProviderDefinition>(
  Object.values(builtIn).map((definition) => [definition.id, definition]),
);

/** The ids of the model APIs that come with the package. */
export type ModelProviderId = (typeof builtInModels)[keyof typeof builtInModels]['id'];

const models = new Map<string, ModelProviderDefinition>(
  Object.values(builtInModels).map((definition) => [definition.id, definition]),
);

/** Adds a provider of the caller's own. An id can be registered once. */
export function registerProvider(definition: ProviderDefinition): void {
  checkIsFree(definition.id);
  definitions.set(definition.id, definition);
}

/** Adds a model API of the caller's own. An id can be registered once, as a CLI or as a model API. */
export function registerModelProvider(definition: ModelProviderDefinition): void {
  checkIsFree(definition.id);
  models.set(definition.id, definition);
}

function checkIsFree(id: string): void {
  if (!definitions.has(id) && !models.has(id)) return;
  throw new TypeError(`A provider ${JSON.stringify(id)} is registered already.`);
}

/** The ids of every registered model API. */
export function listModelProviders(): readonly string[] {
  return [...models.keys()];
}

/** The definition of a model API, if it is registered. */
export function findModelProvider(id: string): ModelProviderDefinition | undefined {
  return models.get(id);
}

/** The ids of every registered provider. */
export function listProviders(): readonly string[] {
  return [...definitions.keys()];
}

/** The definition of a provider, if it is registered. */
export function findProvider(id: string): ProviderDefinition | undefined {
  return definitions.get(id);
}

/** A coding adapter with the provider that declares it. */
export interface FoundCodingAdapter {
  readonly provider: string;
  /** The executable's name, looked up on PATH where a runner names no binary. */
  readonly binary: string;
  readonly adapter: CodingAdapter;
}

/** The coding adapters of every registered provider. */
export function listCodingAdapters(): readonly FoundCodingAdapter[] {
  return [...definitions.values()].flatMap(({ id, binary, codingAdapter }) =>
    codingAdapter ? [{ provider: id, binary, adapter: codingAdapter }] : [],
  );
}

/** The coding adapter of that id, such as `codex-app-server-v1`, if a registered provider declares it. */
export function findCodingAdapter(adapterId: string): FoundCodingAdapter | undefined {
  return listCodingAdapters().find(({ adapter }) => adapter.adapterId === adapterId);
}

/** What a provider claims for a way to drive it. An id nobody registered, or a way it does not have, is a TypeError. */
export function providerCapabilities(id: string, way?: Way): ProviderCapabilities {
  if (models.has(id) && way === undefined) return modelCapabilities;
  const definition = definitions.get(id);
  if (!definition) throw new TypeError(`No provider ${JSON.stringify(id)} is registered.`);
  const [first] = listWays(definition);
  const asked = way ?? first;
  if (!asked || !declarationOf(definition, asked)) {
    throw new TypeError(`Provider ${JSON.stringify(id)} cannot be driven by ${asked}.`);
  }
  return capabilitiesOf(definition, asked);
}

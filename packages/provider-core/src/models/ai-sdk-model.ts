import type { LanguageModel, streamText, ToolSet } from 'ai';
import type {
  ModelConfig,
  ModelPort,
  ModelProviderDefinition,
  ModelStepEvent,
  ModelStepRequest,
} from '../spec/model-port.js';
import { checkStep } from './check-step.js';
import { loadPeer } from './load-peer.js';
import { readModelKey } from './model-key.js';
import { readSdkFailure } from './sdk-failure.js';
import { toSdkMessages } from './sdk-messages.js';
import { readStepStream } from './step-stream.js';

const DEFAULT_OUTPUT_TOKENS = 4096;

/** One vendor whose wire a package of the AI SDK speaks: data, and how to load the package. */
export interface ModelVendor<Id extends string> {
  readonly id: Id;
  readonly displayName: string;
  /** The optional peer. */
  readonly package: string;
  /** The vendor's own address, as its package takes it. Without one the config must give it. */
  readonly baseUrl?: string;
  /** The variable that usually holds the vendor's key. */
  readonly keyVariable?: string;
  /** Options of the vendor's own that go along with each request. */
  readonly options?: NonNullable<Parameters<typeof streamText>[0]['providerOptions']>;
  /** Loads the peer, and says how to reach a model with it. */
  readonly load: () => Promise<(address: ModelAddress) => LanguageModel>;
}

/** What a vendor's package needs to reach a model. */
export interface ModelAddress {
  readonly model: string;
  readonly apiKey: string | undefined;
  readonly baseUrl: string;
}

/** Makes a provider of a vendor: the port behind it is the same for all of them. */
export function defineModelProvider<const Id extends string>(
  vendor: ModelVendor<Id>,
): ModelProviderDefinition<Id> {
  const { id, displayName, package: packageName } = vendor;
  return {
    kind: 'model',
    id,
    displayName,
    package: packageName,
    openModel: (config) => openAiSdkModel(vendor, config),
  };
}

async function openAiSdkModel(
  vendor: ModelVendor<string>,
  config: ModelConfig,
): Promise<ModelPort> {
  const baseUrl = config.baseUrl ?? vendor.baseUrl;
  if (baseUrl === undefined) throw new TypeError(`${vendor.id} needs a baseUrl.`);
  const sdk = await loadPeer('ai', () => import('ai'));
  const reach = await loadPeer(vendor.package, vendor.load);
  // Else the SDK prints to the host's console; one that the host set is its own affair.
  globalThis.AI_SDK_LOG_WARNINGS ??= false;
  const readKey = () => readModelKey(config, vendor.keyVariable);
  const open = (apiKey: string | undefined) => reach({ model: config.model, baseUrl, apiKey });
  const limit = config.maxOutputTokens ?? DEFAULT_OUTPUT_TOKENS;
  return {
    provider: vendor.id,
    model: config.model,
    step: (request) => runStep({ sdk, vendor, readKey, open, limit }, request),
  };
}

interface OpenedModel {
  readonly sdk: typeof import('ai');
  readonly vendor: ModelVendor<string>;
  readonly readKey: () => string | undefined;
  readonly open: (apiKey: string | undefined) => LanguageModel;
  readonly limit: number;
}

async function* runStep(
  opened: OpenedModel,
  request: ModelStepRequest,
): AsyncGenerator<ModelStepEvent> {
  const { sdk, vendor } = opened;
  const { signal } = request;
  signal.throwIfAborted();
  checkStep(request);
  const key = opened.readKey();
  // Aborted without a reason: the SDK takes an abort with one for a failed request.
  const connection = new AbortController();
  const onAbort = () => connection.abort();
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    const { fullStream } = sdk.streamText(
      writeCall(opened, { request, key, abortSignal: connection.signal }),
    );
    yield* readStepStream(vendor.id, fullStream);
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    throw readSdkFailure(sdk, error, key);
  } finally {
    signal.removeEventListener('abort', onAbort);
    // Also when the caller stopped reading: nobody pays for what nobody hears.
    connection.abort();
  }
}

interface StepCall {
  readonly request: ModelStepRequest;
  readonly key: string | undefined;
  readonly abortSignal: AbortSignal;
}

function writeCall(
  { sdk, vendor, open, limit }: OpenedModel,
  { request, key, abortSignal }: StepCall,
): Parameters<typeof streamText>[0] {
  const { system, messages, maxOutputTokens = limit } = request;
  const tools: ToolSet = Object.fromEntries(
    request.tools.map(({ name, description = '', inputSchema }) => [
      name,
      sdk.tool({ description, inputSchema: sdk.jsonSchema(inputSchema) }),
    ]),
  );
  return {
    model: open(key),
    messages: toSdkMessages(vendor.id, messages),
    abortSignal,
    maxOutputTokens,
    // Who asked decides whether to ask again.
    maxRetries: 0,
    // It prints to the console by default; the error comes through the stream as well.
    onError: () => undefined,
    ...(system && { system }),
    ...(request.tools.length > 0 && { tools }),
    ...(vendor.options && { providerOptions: vendor.options }),
  };
}

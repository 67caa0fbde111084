import {
  type ModelRequest,
  type ModelWindow,
  type ScriptedModel,
  startScriptedModel,
} from '@holdfast/provider-core/certification';
import { createDeferred } from './deferred.js';

/** A scripted model that can be stopped and started again at one address, and remembers only what it was asked. */
export interface ModelLifetime {
  readonly baseUrl: string;
  /** Requests of the conversation itself, of every server so far. */
  readonly requests: () => readonly ModelRequest[];
  readonly restart: () => Promise<void>;
  readonly stop: () => Promise<void>;
  /** Holds every answer back until the function that this gives is called. */
  readonly hold: () => () => void;
  /** Replaces what is done at each window. */
  readonly onWindow: (act: ((window: ModelWindow) => void | Promise<void>) | undefined) => void;
}

/** Starts the model of one case. */
export async function startModelLifetime(): Promise<ModelLifetime> {
  let act: ((window: ModelWindow) => void | Promise<void>) | undefined;
  const earlier: ModelRequest[] = [];
  const options = { onWindow: (window: ModelWindow) => act?.(window) };
  let model: ScriptedModel = await startScriptedModel(options);
  const { port, baseUrl } = model;
  return {
    baseUrl,
    requests: () => [...earlier, ...model.requests()].filter(({ kind }) => kind === 'main'),
    restart: async () => {
      await model.stop();
      earlier.push(...model.requests());
      model = await startScriptedModel({ ...options, port });
    },
    onWindow: (next) => {
      act = next;
    },
    hold: () => {
      const { promise, resolve } = createDeferred<void>();
      const before = act;
      act = async (window) => {
        if (window.name === 'at_request') await promise;
        await before?.(window);
      };
      return resolve;
    },
    stop: () => model.stop(),
  };
}

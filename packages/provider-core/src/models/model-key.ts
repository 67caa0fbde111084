import process from 'node:process';
import { AuthRequiredError } from '../errors/turn-error.js';
import type { ModelConfig } from '../spec/model-port.js';

/**
 * The key, read at the moment of use and kept nowhere. Without one in the config the vendor's usual variable counts; a
 * vendor without such a variable needs no key.
 */
export function readModelKey(
  { apiKey }: ModelConfig,
  usualVariable: string | undefined,
): string | undefined {
  if (typeof apiKey === 'string') return apiKey;
  const variable = apiKey?.env ?? usualVariable;
  if (variable === undefined) return undefined;
  const key = process.env[variable];
  if (key !== undefined && key !== '') return key;
  throw new AuthRequiredError(`the variable ${variable} of this process holds no key`);
}

import type { RunnerCli } from '../coding-options.js';
import { ENDPOINT_KEY } from '../execution/worker-environment.js';
import type { WorkerCli } from '../worker/worker-spec.js';

/** A runner's CLI as it is written down: a literal key became a reference. */
export function nameKey({ endpoint, ...cli }: RunnerCli = {}): WorkerCli {
  if (!endpoint) return cli;
  const { baseUrl, apiKey } = endpoint;
  const named = typeof apiKey === 'string' ? { env: ENDPOINT_KEY } : apiKey;
  return { ...cli, endpoint: { baseUrl, ...(named && { apiKey: named }) } };
}

/** What that reference stands for now: a key that was changed meanwhile is the new one. */
export function keyVariables({ endpoint }: RunnerCli = {}): Readonly<Record<string, string>> {
  const apiKey = endpoint?.apiKey;
  return typeof apiKey === 'string' ? { [ENDPOINT_KEY]: apiKey } : {};
}

import { type CodingAdapter, findCodingAdapter } from '@holdfast/agent';
import type { JsonValue } from '../../persistence/store.js';
import type { Sha256 } from '../coding-job.js';
import type { CodingOptions, CodingRunnerOptions } from '../coding-options.js';
import { digestOfJson, digestOfText } from '../contract/canonical-json.js';
import { type CodingPolicy, decodePolicy, digestPolicy } from '../contract/coding-policy.wire.js';
import type { AuthenticationProfile } from '../contract/features.js';
import { digestScope, type ThreadOwner } from '../contract/thread-scope.js';

/** A runner with everything that its options left open. */
export interface CodingRunner {
  readonly runnerId: string;
  readonly options: CodingRunnerOptions;
  readonly adapter: CodingAdapter;
  /** The CLI's executable, as it is looked for on PATH. */
  readonly binaryName: string;
  readonly authenticationProfile: AuthenticationProfile;
  readonly policy: CodingPolicy;
  readonly queue: string;
  readonly concurrency: number;
  readonly timeoutMs: number;
  readonly inactivityMs: number;
}

const DEFAULT_TIMEOUT_MS = 30 * 60_000;
const DEFAULT_INACTIVITY_MS = 10 * 60_000;

/** The runners of a builder by id. What cannot be used is a TypeError, or `runner_unfit` for a policy. */
export function readRunners(options: CodingOptions): ReadonlyMap<string, CodingRunner> {
  checkService(options);
  const runners = options.runners.map(readRunner);
  const ids = runners.map(({ runnerId }) => runnerId);
  const twice = ids.find((id, index) => ids.indexOf(id) !== index);
  if (twice !== undefined) throw new TypeError(`Two runners have the id ${twice}.`);
  return new Map(runners.map((runner) => [runner.runnerId, runner]));
}

/** The digest of the service's policy: those of all its runners. */
export function digestServicePolicy(runners: ReadonlyMap<string, CodingRunner>): Sha256 {
  const policies = [...runners.values()].map((runner): [string, JsonValue] => {
    const { runnerId, adapter, authenticationProfile, policy } = runner;
    const { adapterId } = adapter;
    return [runnerId, { adapterId, authenticationProfile, policy: digestPolicy(policy) }];
  });
  return digestOfJson({ schemaVersion: 1, runners: Object.fromEntries(policies) });
}

/** The scope of an owner's threads in this service. */
export function scopeOf(
  { host, origin, boundary }: CodingOptions,
  runners: ReadonlyMap<string, CodingRunner>,
  owner: ThreadOwner,
): Sha256 {
  return digestScope({ host, origin, boundary, owner, policy: digestServicePolicy(runners) });
}

function checkService({ host, origin, boundary, repositoryUriPrefix }: CodingOptions): void {
  for (const [name, value] of Object.entries({ host, origin })) {
    if (typeof value !== 'string' || value === '') throw new TypeError(`coding.${name} is needed.`);
  }
  if (!/^sha256:[0-9a-f]{64}$/.test(boundary)) {
    throw new TypeError('coding.boundary must be a digest: sha256: and 64 hex digits.');
  }
  if (!/^file:\/\/\/.*\/$|^file:\/\/\/$/.test(repositoryUriPrefix)) {
    throw new TypeError('coding.repositoryUriPrefix must be a file: URI that ends with a slash.');
  }
}

function readRunner(options: CodingRunnerOptions): CodingRunner {
  const { runnerId, adapter: adapterId, concurrency = 1 } = options;
  if (!/^[A-Za-z0-9._-]{1,128}$/.test(runnerId) || /^\.+$/.test(runnerId)) {
    const rule = 'use 1 to 128 of A-Z a-z 0-9 . _ -';
    throw new TypeError(`${JSON.stringify(runnerId)} is no runner id; ${rule}.`);
  }
  const found = findCodingAdapter(adapterId);
  if (!found) throw new TypeError(`No coding adapter ${JSON.stringify(adapterId)} is registered.`);
  const { adapter, binary: binaryName } = found;
  return {
    ...{ runnerId, options, adapter, binaryName },
    authenticationProfile: options.authenticationProfile ?? 'personal-subscription',
    policy: decodePolicy(options.policy ?? defaultPolicy(adapter), adapter.permissionModes),
    queue: queueOf(runnerId),
    concurrency: checkPositive(runnerId, 'concurrency', Math.trunc(concurrency)),
    timeoutMs: checkPositive(runnerId, 'timeoutMs', options.timeoutMs ?? DEFAULT_TIMEOUT_MS),
    inactivityMs: checkPositive(
      runnerId,
      'inactivityMs',
      options.inactivityMs ?? DEFAULT_INACTIVITY_MS,
    ),
  };
}

function defaultPolicy({ permissionModes }: CodingAdapter) {
  const permissionSource = 'agent-policy';
  return { permissionSource, permissionMode: permissionModes[permissionSource]?.[0] ?? '' };
}

/** A queue's name is shorter than a runner's id may be. */
function queueOf(runnerId: string): string {
  const isShort = runnerId.length <= 60;
  return `coding-${isShort ? runnerId : digestOfText(runnerId).slice('sha256:'.length)}`;
}

function checkPositive(runnerId: string, name: string, value: number): number {
  if (value > 0) return value;
  throw new TypeError(`${name} of the runner ${runnerId} must be more than 0.`);
}

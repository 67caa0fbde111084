import { CodingThreadError } from '../coding-thread-error.js';
import type { CodingWorkerSpec, SecretReference, WorkerCli } from '../worker/worker-spec.js';

/** What a worker inherits from the runner. Everything else stays with it. */
const ALLOWED: ReadonlySet<string> = new Set([
  ...['HOME', 'PATH', 'USER', 'LOGNAME', 'SHELL', 'LANG', 'LANGUAGE', 'TZ', 'TMPDIR'],
  ...['XDG_CONFIG_HOME', 'XDG_CACHE_HOME', 'XDG_DATA_HOME', 'XDG_STATE_HOME', 'XDG_RUNTIME_DIR'],
  ...['SSL_CERT_FILE', 'SSL_CERT_DIR', 'NODE_EXTRA_CA_CERTS'],
  ...['HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY', 'http_proxy', 'https_proxy', 'no_proxy'],
]);
/** They would change the worker itself, or what its processes are found by. */
const RESERVED = /^(NODE_|LD_|DYLD_|HOLDFAST_)/;
const SECRET_SHAPED = /(^|_)(key|apikey|token|secret|password|passwd|credentials?)(_|$)/i;

/** The variable of a key that a runner was given literally. Its host alone tells a worker what is in it. */
export const ENDPOINT_KEY = 'HOLDFAST_ENDPOINT_KEY';

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The environment of a worker: the allow list, and exactly the variables that its spec names. A spec that holds a secret
 * itself, or names one that is not there, is `runner_unfit`.
 */
export function createWorkerEnvironment(
  spec: CodingWorkerSpec,
  own: Environment,
): Record<string, string> {
  checkLiterals(spec.cli);
  const named = listReferences(spec).map(({ env }) => [env, readVariable(env, own)] as const);
  return { ...allowedEnvironment(own), ...Object.fromEntries(named) };
}

/** What any worker inherits. */
export function allowedEnvironment(own: Environment): Record<string, string> {
  const inherited = Object.entries(own).filter(
    (entry): entry is [string, string] =>
      entry[1] !== undefined && (ALLOWED.has(entry[0]) || entry[0].startsWith('LC_')),
  );
  return Object.fromEntries(inherited);
}

/** The values that a spec's references stand for: nothing may tell them. */
export function secretsOf(spec: CodingWorkerSpec, own: Environment): readonly string[] {
  return listReferences(spec).flatMap(({ env }) => own[env] ?? []);
}

/** Refuses what looks like a secret among a CLI's variables, before it is written down anywhere. */
export function checkLiterals({ env = {} }: Pick<WorkerCli, 'env'>): void {
  const literal = Object.entries(env).find(
    ([name, value]) => typeof value === 'string' && value !== '' && SECRET_SHAPED.test(name),
  );
  if (!literal) return;
  throw unfit(`${literal[0]} looks like a secret: a runner names a variable that holds it`);
}

function listReferences({ cli: { env = {}, endpoint } }: CodingWorkerSpec) {
  const values = [...Object.values(env), endpoint?.apiKey];
  return values.filter((value): value is SecretReference => typeof value === 'object');
}

function readVariable(name: string, own: Environment): string {
  if (RESERVED.test(name) && name !== ENDPOINT_KEY)
    throw unfit(`${name} is no variable that a CLI may be given`);
  const value = own[name];
  if (value === undefined) throw unfit(`${name} is not in the environment of this process`);
  return value;
}

function unfit(why: string): CodingThreadError {
  return new CodingThreadError('runner_unfit', `The worker is not started: ${why}.`);
}

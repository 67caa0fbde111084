import type { EnvReference, SessionConfig } from '../spec/session-config.js';

/** What a CLI may inherit from the service. Everything else stays with us. */
const ALLOWED: ReadonlySet<string> = new Set([
  'HOME',
  'PATH',
  'USER',
  'LOGNAME',
  'SHELL',
  'LANG',
  'LANGUAGE',
  'TZ',
  'TMPDIR',
  'XDG_CONFIG_HOME',
  'XDG_CACHE_HOME',
  'XDG_DATA_HOME',
  'XDG_STATE_HOME',
  'XDG_RUNTIME_DIR',
  'SSL_CERT_FILE',
  'SSL_CERT_DIR',
  'NODE_EXTRA_CA_CERTS',
  'HTTP_PROXY',
  'HTTPS_PROXY',
  'NO_PROXY',
  'http_proxy',
  'https_proxy',
  'no_proxy',
  'SSH_AUTH_SOCK',
  // Names the worker process that we run in, by which everything that it started is found again.
  'HOLDFAST_WORKER',
]);

/** The environment of a CLI: the allow list, the caller's variables, what the launch adds, and the nonce. */
export function createChildEnvironment(request: {
  readonly config: SessionConfig;
  readonly added: Readonly<Record<string, string>>;
  /** By it every process of ours is found again. */
  readonly nonce: string;
}): Record<string, string> {
  const own = Object.entries(process.env).filter(
    (entry): entry is [string, string] =>
      entry[1] !== undefined && (ALLOWED.has(entry[0]) || entry[0].startsWith('LC_')),
  );
  return {
    LANG: 'C.UTF-8',
    ...Object.fromEntries(own),
    TERM: 'xterm-256color',
    ...resolveConfigEnv(request.config),
    ...request.added,
    HOLDFAST_NONCE: request.nonce,
  };
}

/** The caller's own variables, with references read from the service's environment. */
export function resolveConfigEnv({ env = {} }: SessionConfig): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).map(([name, value]) => [name, resolveValue(value, `config.env.${name}`)]),
  );
}

/** The value itself, or the one the reference names. */
export function resolveValue(value: string | EnvReference, what: string): string {
  if (typeof value === 'string') return value;
  const found = process.env[value.env];
  if (found === undefined) {
    throw new TypeError(`${what} refers to ${value.env}, which this process's environment lacks.`);
  }
  return found;
}

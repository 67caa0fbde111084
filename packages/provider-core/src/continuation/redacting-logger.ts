import type { Logger } from '../spec/logger.js';
import type { EnvReference, SessionConfig } from '../spec/session-config.js';

const MARK = '[redacted]';
/** What is shorter would blot out ordinary words; a secret of this length is none. */
const SHORTEST = 4;
const MAX_DEPTH = 6;

/** Texts that must not be logged. It grows: a turn adds its message. */
export class HiddenTexts {
  readonly #texts = new Set<string>();

  constructor(config: SessionConfig) {
    for (const text of secretsOf(config)) this.add(text);
  }

  add(text: string): void {
    if (text.length >= SHORTEST) this.#texts.add(text);
  }

  /** The text with everything hidden replaced, the longest first. */
  hide(text: string): string {
    return [...this.#texts]
      .sort((left, right) => right.length - left.length)
      .reduce((shown, hidden) => shown.replaceAll(hidden, MARK), text);
  }
}

/** A logger that lets none of the hidden texts through, in whatever field, message or error they stand. */
export function redactingLogger(logger: Logger, hidden: HiddenTexts): Logger {
  const write =
    (level: 'debug' | 'info' | 'warn' | 'error'): Logger['info'] =>
    (fields, message) =>
      logger[level](redactFields(fields, hidden), hidden.hide(message));
  return {
    debug: write('debug'),
    info: write('info'),
    warn: write('warn'),
    error: write('error'),
    child: (bindings) => redactingLogger(logger.child(redactFields(bindings, hidden)), hidden),
  };
}

function redactFields(
  fields: Readonly<Record<string, unknown>>,
  hidden: HiddenTexts,
  depth = 0,
): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields).map(([key, value]) => [key, redact(value, hidden, depth)]),
  );
}

function redact(value: unknown, hidden: HiddenTexts, depth: number): unknown {
  if (typeof value === 'string') return hidden.hide(value);
  if (typeof value !== 'object' || value === null) return value;
  if (depth >= MAX_DEPTH) return MARK;
  if (Array.isArray(value)) return value.map((one) => redact(one, hidden, depth + 1));
  if (value instanceof Error) return redactError(value, hidden, depth);
  return redactFields({ ...value }, hidden, depth + 1);
}

/** A copy of the same kind, so that serializers know it for what it is. */
function redactError(error: Error, hidden: HiddenTexts, depth: number): Error {
  const { message, stack, cause } = error;
  const copy: Error = Object.create(Object.getPrototypeOf(error));
  return Object.assign(copy, redactFields({ ...error }, hidden, depth + 1), {
    message: hidden.hide(message),
    ...(stack === undefined ? {} : { stack: hidden.hide(stack) }),
    ...(cause === undefined ? {} : { cause: redact(cause, hidden, depth + 1) }),
  });
}

/** The values a config holds that are nobody's business: keys, variables, headers, prompts. */
function secretsOf({ endpoint, env, mcpServers, systemPrompt, nudge }: SessionConfig): string[] {
  const values = [endpoint?.apiKey, ...Object.values(env ?? {}), systemPrompt, nudge];
  for (const server of Object.values(mcpServers ?? {})) {
    const held = 'command' in server ? server.env : server.headers;
    values.push(...Object.values(held ?? {}));
  }
  return values.map(readSecret).filter((value) => value !== undefined);
}

function readSecret(value: string | EnvReference | undefined): string | undefined {
  return typeof value === 'object' ? process.env[value.env] : value;
}

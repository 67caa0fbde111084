import type { ScriptedStep } from './scripted-step.js';

/** The login is not accepted: 401. */
export function unauthorized(): ScriptedStep {
  return { status: 401, errorMessage: 'Scripted: the key is not valid.' };
}

/** Too many requests: 429, with `retry-after` and, when `resetAt` is given, the moment at which the limit ends. */
export function rateLimited(options: {
  readonly retryAfterSeconds: number;
  readonly resetAt?: Date;
  readonly times?: number;
}): ScriptedStep {
  const { retryAfterSeconds, resetAt, times } = options;
  const resetSeconds = resetAt && Math.floor(resetAt.getTime() / 1000);
  return {
    status: 429,
    errorMessage: 'Scripted: too many requests.',
    headers: {
      'retry-after': String(retryAfterSeconds),
      ...(resetSeconds !== undefined && {
        'anthropic-ratelimit-unified-reset': String(resetSeconds),
        'anthropic-ratelimit-unified-status': 'rejected',
      }),
    },
    ...(times !== undefined && { times }),
  };
}

/** The plan's allowance is used up, in the form that Codex CLI knows: 429 `usage_limit_reached`. */
export function usageLimitReached(resetAt: Date): ScriptedStep {
  return {
    status: 429,
    errorType: 'usage_limit_reached',
    errorMessage: 'Scripted: the usage limit is reached.',
    errorDetail: { plan_type: 'plus', resets_at: Math.floor(resetAt.getTime() / 1000) },
  };
}

/** The provider has no capacity: 529. */
export function overloaded(options: { readonly times?: number } = {}): ScriptedStep {
  return { status: 529, errorMessage: 'Scripted: overloaded.', ...options };
}

/** The connection closes after the first half of `text`. */
export function brokenStream(
  text: string,
  options: { readonly times?: number } = {},
): ScriptedStep {
  return { text, breakStream: true, ...options };
}

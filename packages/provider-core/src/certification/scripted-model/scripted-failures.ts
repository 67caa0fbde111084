import type { ModelProtocol } from './model-request.js';
import type { ScriptedStep } from './scripted-step.js';

/** The login is not accepted: 401. */
export function unauthorized(): ScriptedStep {
  return { status: 401, errorMessage: 'Scripted: the key is not valid.' };
}

/**
 * Too many requests: 429, with `retry-after` and, when `resetAt` is given, the moment at which the limit ends as the
 * protocol tells it; Anthropic's way when no protocol is named.
 */
export function rateLimited(options: {
  readonly retryAfterSeconds: number;
  readonly resetAt?: Date;
  readonly times?: number;
  readonly protocol?: ModelProtocol;
}): ScriptedStep {
  const { retryAfterSeconds, resetAt, times, protocol = 'anthropic-messages' } = options;
  const shape = { ...(times !== undefined && { times }), ...rateLimitShapes[protocol] };
  const base = { status: 429, errorMessage: 'Scripted: too many requests.', ...shape };
  if (protocol === 'gemini') return { ...base, errorDetail: { details: retryInfo(options) } };
  const retryAfter = { 'retry-after': String(retryAfterSeconds) };
  if (protocol !== 'anthropic-messages') {
    return { ...base, headers: { ...retryAfter, ...openaiLimitHeaders(retryAfterSeconds) } };
  }
  const resetSeconds = resetAt && Math.floor(resetAt.getTime() / 1000);
  return {
    ...base,
    headers: {
      ...retryAfter,
      ...(resetSeconds !== undefined && {
        'anthropic-ratelimit-unified-reset': String(resetSeconds),
        'anthropic-ratelimit-unified-status': 'rejected',
      }),
    },
  };
}

const rateLimitShapes: Readonly<Record<ModelProtocol, ScriptedStep>> = {
  'anthropic-messages': {},
  'openai-responses': { errorDetail: { type: 'requests', code: 'rate_limit_exceeded' } },
  'openai-chat': { errorDetail: { type: 'requests', code: 'rate_limit_exceeded' } },
  gemini: {},
};

function openaiLimitHeaders(seconds: number) {
  return { 'x-ratelimit-remaining-requests': '0', 'x-ratelimit-reset-requests': `${seconds}s` };
}

/** Gemini tells the wait in the body, and no header says it. */
function retryInfo({ retryAfterSeconds }: { readonly retryAfterSeconds: number }) {
  const retryDelay = `${retryAfterSeconds}s`;
  return [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay }];
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

/** The provider has no capacity: 529, and 503 in the protocols that do not know it. */
export function overloaded(
  options: { readonly times?: number; readonly protocol?: ModelProtocol } = {},
): ScriptedStep {
  const { protocol, ...rest } = options;
  const status = protocol === 'openai-chat' || protocol === 'gemini' ? 503 : 529;
  return { status, errorMessage: 'Scripted: overloaded.', ...rest };
}

/** The conversation does not fit into the model: 400, in the words of the protocol's vendor. */
export function contextTooLong(protocol: ModelProtocol): ScriptedStep {
  return { status: 400, ...contextTooLongShapes[protocol] };
}

const windowExceeded = { type: 'invalid_request_error', code: 'context_length_exceeded' };

const contextTooLongShapes: Readonly<Record<ModelProtocol, ScriptedStep>> = {
  'anthropic-messages': { errorMessage: 'prompt is too long: 208310 tokens > 200000 maximum' },
  'openai-responses': {
    errorMessage: 'Your input exceeds the context window of this model.',
    errorDetail: { ...windowExceeded, param: 'input' },
  },
  'openai-chat': {
    errorMessage:
      "This model's maximum context length is 128000 tokens. However, your messages resulted in 208310 tokens.",
    errorDetail: { ...windowExceeded, param: 'messages' },
  },
  gemini: {
    errorMessage:
      'The input token count (1148576) exceeds the maximum number of tokens allowed (1048576).',
  },
};

/** The model does not exist: 404 (400 in OpenAI Responses). */
export function modelNotFound(protocol: ModelProtocol): ScriptedStep {
  return { status: 404, ...modelNotFoundShapes[protocol] };
}

const missingModel = { type: 'invalid_request_error', code: 'model_not_found' };

const modelNotFoundShapes: Readonly<Record<ModelProtocol, ScriptedStep>> = {
  'anthropic-messages': { errorMessage: 'model: scripted-missing' },
  'openai-responses': {
    status: 400,
    errorMessage: "The requested model 'scripted-missing' does not exist.",
    errorDetail: { ...missingModel, param: 'model' },
  },
  'openai-chat': {
    errorMessage: 'The model `scripted-missing` does not exist or you do not have access to it.',
    errorDetail: missingModel,
  },
  gemini: {
    errorMessage:
      'models/scripted-missing is not found for API version v1beta, or is not supported for generateContent.',
  },
};

/** The model refuses: an answer that ends with the vendor's own word for it. */
export function refused(text = ''): ScriptedStep {
  return { text, stop: 'refusal' };
}

/** The vendor does not take the conversation as it stands: 400 about one of its messages. */
export function historyRejected(protocol: ModelProtocol): ScriptedStep {
  return { status: 400, ...historyRejectedShapes[protocol] };
}

const wrongMessage = { type: 'invalid_request_error', code: null };

const historyRejectedShapes: Readonly<Record<ModelProtocol, ScriptedStep>> = {
  'anthropic-messages': {
    errorMessage:
      'messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_scripted. Each `tool_use` block must have a corresponding `tool_result` block in the next message.',
  },
  'openai-responses': {
    errorMessage: 'No tool output found for function call call_scripted.',
    errorDetail: { ...wrongMessage, param: 'input' },
  },
  'openai-chat': {
    errorMessage:
      "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'.",
    errorDetail: { ...wrongMessage, param: 'messages.[2].role' },
  },
  gemini: {
    errorMessage:
      'Please ensure that function call turn comes immediately after a user turn or after a function response turn.',
  },
};

/** The connection closes after the first half of `text`. */
export function brokenStream(
  text: string,
  options: { readonly times?: number } = {},
): ScriptedStep {
  return { text, breakStream: true, ...options };
}

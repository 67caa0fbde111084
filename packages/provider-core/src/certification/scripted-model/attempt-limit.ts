import type { ModelRequest } from './model-request.js';
import type { ScriptedStep } from './scripted-step.js';
import { readUserMessages } from './user-messages.js';

/**
 * Counts how often each point of a conversation was asked for, so that a failure can be scripted for the first attempts
 * only. It tells attempts apart and nothing of the conversation; a restarted server counts anew.
 */
export function createAttemptLimit(): (request: ModelRequest, step: ScriptedStep) => ScriptedStep {
  const attempts = new Map<string, number>();
  return (request, step) => {
    if (step.times === undefined) return step;
    const key = readPoint(request);
    const attempt = (attempts.get(key) ?? 0) + 1;
    attempts.set(key, attempt);
    return attempt > step.times ? withoutFailure(step) : step;
  };
}

function readPoint(request: ModelRequest): string {
  const toolResults = request.messages.filter(({ role }) => role === 'tool').length;
  return JSON.stringify([request.nativeSessionId, toolResults, readUserMessages(request)]);
}

function withoutFailure(step: ScriptedStep): ScriptedStep {
  const { status, drop, breakStream, midStreamError, hang, ...rest } = step;
  return rest;
}

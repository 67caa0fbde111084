import { answerCodeword } from './codeword.js';
import type { ModelRequest } from './model-request.js';
import { findDirective, type ScriptedStep } from './scripted-step.js';
import { answerReminder } from './structured-answer.js';
import {
  findUserMessages,
  isAskedAgain,
  readSummaries,
  readUserMessages,
  type UserMessage,
} from './user-messages.js';

const HEARD_CHARACTERS = 60;

/** How to answer a request, decided by what stands in its body and by nothing else. */
export function chooseStep(request: ModelRequest): ScriptedStep {
  if (request.sideReason === 'compaction') return { text: summarize(request) };
  if (request.sideReason === 'no_tools') return { text: '{"title":"Scripted title"}' };
  return chooseTurnStep(request);
}

function chooseTurnStep(request: ModelRequest): ScriptedStep {
  const messages = findUserMessages(request);
  const last = messages.at(-1);
  if (!last) return { text: 'I was sent no message.' };
  if (isOwnTurn(request, last) && !isAskedAgain(request)) return { text: 'Noted.' };

  const toolResults = request.messages
    .slice(last.itemIndex)
    .filter(({ role }) => role === 'tool').length;
  const reminded = answerReminder(last.text, request);
  if (reminded) return reminded;
  const directive = findDirective(last.text);
  if (directive) return followDirective(directive, toolResults);
  if (toolResults > 0) return { text: 'Tool finished.' };

  const earlier = messages.slice(0, -1).map(({ text }) => text);
  return { text: answerPlainly(last.text, [...readSummaries(request), ...earlier]) };
}

/** The CLI began a turn by itself after an answer (a background task ended, a hook spoke), or lets one go on. */
function isOwnTurn(request: ModelRequest, lastMessage: UserMessage): boolean {
  const items = request.messages
    .slice(lastMessage.itemIndex)
    .filter(({ role }) => role !== 'system' && role !== 'developer');
  const [before, end] = [items.at(-2)?.role, items.at(-1)?.role];
  return end === 'assistant' || (end === 'user' && before === 'assistant');
}

function followDirective(
  directive: NonNullable<ReturnType<typeof findDirective>>,
  toolResults: number,
): ScriptedStep {
  if ('problem' in directive) {
    return { status: 400, errorType: 'invalid_request_error', errorMessage: directive.problem };
  }
  return findStepAfter(directive.step, toolResults) ?? { text: 'Tool finished.' };
}

/** Each step takes as many tool results as it called tools; the next step is due when all of them are in. */
function findStepAfter(first: ScriptedStep, toolResults: number): ScriptedStep | undefined {
  let step: ScriptedStep | undefined = first;
  let left = toolResults;
  const following = [...(first.after ?? [])];
  while (step && left > 0) {
    left -= Math.max(1, step.tools?.length ?? 0);
    step = following.shift();
  }
  return step;
}

function answerPlainly(message: string, earlier: readonly string[]): string {
  const codeword = answerCodeword(message, earlier);
  if (codeword !== undefined) return codeword;
  if (message.trim() === 'Continue.') return 'Continued.';
  const heard = [...message].slice(0, HEARD_CHARACTERS).join('');
  return `Heard: ${heard} (message ${earlier.length + 1})`;
}

/** A summary that keeps the human messages, so that a codeword outlives a compaction that keeps its summary. */
function summarize(request: ModelRequest): string {
  const kept = [...readSummaries(request), ...readUserMessages(request)].join('\n');
  return `<analysis>Scripted.</analysis>\n<summary>\n${kept}\n</summary>`;
}

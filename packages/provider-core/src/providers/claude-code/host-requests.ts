import type { HostDecision, HostQuestion, HostRequest } from '../../spec/host-request.js';
import type { PaneRequest } from '../../spec/typed-pane.js';
import {
  type PermissionPayload,
  readPermissionPayload,
  readQuestionInput,
} from './host-requests.wire.js';

const QUESTION_TOOL = 'AskUserQuestion';
const DETAIL_CHARACTERS = 200;
/** The fields of a tool's input that say most of it in one line. */
const TELLING_FIELDS = ['command', 'file_path', 'url', 'query', 'pattern', 'plan', 'description'];

/** Reads what a PermissionRequest hook was told. A plan that wants approval comes as a tool call too. */
export function readHostRequest(requestId: string, value: unknown): PaneRequest | undefined {
  const payload = readPermissionPayload(value);
  if (!payload) return undefined;
  const isSerial = payload.agent_id === undefined;
  const questions = payload.tool_name === QUESTION_TOOL ? readQuestions(payload) : undefined;
  if (questions) {
    const detail = oneLine(questions.map(({ question }) => question).join(' '));
    return { isSerial, request: { type: 'question', requestId, questions, detail } };
  }
  return { isSerial, request: readApproval(requestId, payload) };
}

function readApproval(
  requestId: string,
  { tool_name, tool_input }: PermissionPayload,
): HostRequest {
  return {
    type: 'approval',
    requestId,
    toolName: tool_name,
    input: tool_input ?? {},
    detail: describeCall(tool_name, tool_input ?? {}),
  };
}

function readQuestions({ tool_input }: PermissionPayload): readonly HostQuestion[] | undefined {
  return readQuestionInput(tool_input)?.questions.map(({ question, multiSelect, options }) => ({
    // The CLI keeps the answers under the words of the question.
    id: question,
    question,
    choices: (options ?? []).map(({ label, description }) => ({ label, description })),
    allowsSeveral: multiSelect ?? false,
  }));
}

function describeCall(toolName: string, input: Readonly<Record<string, unknown>>): string {
  const said = TELLING_FIELDS.map((name) => input[name]).find((each) => typeof each === 'string');
  return oneLine(typeof said === 'string' ? `${toolName}: ${said}` : toolName);
}

function oneLine(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim();
  const characters = [...line];
  if (characters.length <= DETAIL_CHARACTERS) return line;
  return `${characters.slice(0, DETAIL_CHARACTERS - 1).join('')}…`;
}

/** The decision in the words that the hook gives back to the CLI. */
export function writeHostDecision(value: unknown, decision: HostDecision): string {
  const hookEventName = 'PermissionRequest';
  return `${JSON.stringify({
    hookSpecificOutput: { hookEventName, decision: writeBehavior(value, decision) },
  })}\n`;
}

function writeBehavior(value: unknown, decision: HostDecision): object {
  switch (decision.decision) {
    case 'allow':
      // Said even where it is as it was: without it newer versions leave the page of a plan standing.
      return { behavior: 'allow', updatedInput: decision.updatedInput ?? readInput(value) };
    case 'deny':
      return { behavior: 'deny', message: decision.message ?? 'This was not approved.' };
    case 'answer':
      return {
        behavior: 'allow',
        updatedInput: {
          ...readInput(value),
          answers: Object.fromEntries(
            Object.entries(decision.answers).map(([id, chosen]) => [id, chosen.join(', ')]),
          ),
        },
      };
  }
}

function readInput(value: unknown): Readonly<Record<string, unknown>> {
  return readPermissionPayload(value)?.tool_input ?? {};
}

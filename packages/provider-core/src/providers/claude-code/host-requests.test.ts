import { describe, expect, it } from 'vitest';
import { readHostRequest, writeHostDecision } from './host-requests.js';

const questions = [
  {
    question: 'Which colour?',
    header: 'Colour',
    multiSelect: false,
    options: [{ label: 'Red', description: 'warm' }, { label: 'Blue' }],
  },
  { question: 'Which fruits?', header: 'Fruit', multiSelect: true, options: [{ label: 'Pear' }] },
];
const ask = { tool_name: 'AskUserQuestion', tool_input: { questions } };
const bash = { tool_name: 'Bash', tool_input: { command: 'echo a\n  b', description: 'says a' } };

const decisionOf = (text: string) => JSON.parse(text).hookSpecificOutput.decision;

describe('readHostRequest', () => {
  it('reads a tool call as an approval, told in one line', () => {
    expect(readHostRequest('r1', bash)).toEqual({
      isSerial: true,
      request: {
        type: 'approval',
        requestId: 'r1',
        toolName: 'Bash',
        input: bash.tool_input,
        detail: 'Bash: echo a b',
      },
    });
  });

  it('reads a question with its choices, by the words of the question', () => {
    expect(readHostRequest('r1', ask)?.request).toEqual({
      type: 'question',
      requestId: 'r1',
      detail: 'Which colour? Which fruits?',
      questions: [
        {
          id: 'Which colour?',
          question: 'Which colour?',
          choices: [
            { label: 'Red', description: 'warm' },
            { label: 'Blue', description: undefined },
          ],
          allowsSeveral: false,
        },
        {
          id: 'Which fruits?',
          question: 'Which fruits?',
          choices: [{ label: 'Pear', description: undefined }],
          allowsSeveral: true,
        },
      ],
    });
  });

  it('takes a plan without words for an approval too', () => {
    const request = readHostRequest('r1', { tool_name: 'ExitPlanMode', tool_input: {} })?.request;
    expect(request).toMatchObject({ type: 'approval', detail: 'ExitPlanMode', input: {} });
  });

  it('knows that subagents may ask at the same time', () => {
    expect(readHostRequest('r1', { ...bash, agent_id: 'a1' })?.isSerial).toBe(false);
  });

  it('cuts a long detail between characters', () => {
    const long = { tool_name: 'Bash', tool_input: { command: '🙂'.repeat(500) } };
    const detail = readHostRequest('r1', long)?.request.detail ?? '';
    expect([...detail]).toHaveLength(200);
    expect(detail.isWellFormed()).toBe(true);
  });

  it('reads nothing from what is no request', () => {
    expect(readHostRequest('r1', { hook_event_name: 'Stop' })).toBeUndefined();
  });
});

describe('writeHostDecision', () => {
  it('allows a call with the input it came with', () => {
    const decision = decisionOf(writeHostDecision(bash, { decision: 'allow' }));
    expect(decision).toEqual({ behavior: 'allow', updatedInput: bash.tool_input });
  });

  it('allows a call with the input the host put in its place', () => {
    const given = { decision: 'allow', updatedInput: { command: 'true' } } as const;
    expect(decisionOf(writeHostDecision(bash, given)).updatedInput).toEqual({ command: 'true' });
  });

  it('denies with the words of the host', () => {
    const given = { decision: 'deny', message: 'not today' } as const;
    const decision = decisionOf(writeHostDecision(bash, given));
    expect(decision).toEqual({ behavior: 'deny', message: 'not today' });
  });

  it('answers a question by its words, several choices in one line', () => {
    const answers = { 'Which colour?': ['Blue'], 'Which fruits?': ['Pear', 'my own'] };
    const decision = decisionOf(writeHostDecision(ask, { decision: 'answer', answers }));
    expect(decision).toEqual({
      behavior: 'allow',
      updatedInput: {
        questions,
        answers: { 'Which colour?': 'Blue', 'Which fruits?': 'Pear, my own' },
      },
    });
  });
});

import { describe, expect, it } from 'vitest';
import { chooseStep } from './choose-step.js';
import type { ConversationItem, ModelRequest } from './model-request.js';
import { type ScriptedStep, scripted } from './scripted-step.js';

function requestOf(...messages: readonly ConversationItem[]): ModelRequest {
  return {
    id: '1',
    at: '',
    path: '/v1/messages',
    bodyText: '',
    protocol: 'anthropic-messages',
    kind: 'main',
    model: 'm',
    stream: true,
    systemText: '',
    messages,
    toolNames: ['Bash'],
  };
}

const user = (...texts: readonly string[]): ConversationItem => ({ role: 'user', texts });
const assistant = (text: string): ConversationItem => ({ role: 'assistant', texts: [text] });
const result: ConversationItem = { role: 'tool', texts: ['done'], callId: 'c' };
const call: ConversationItem = { role: 'assistant', texts: [], callId: 'c', toolName: 'Bash' };
const answerTo = (...messages: readonly ConversationItem[]) => chooseStep(requestOf(...messages));

describe('a codeword', () => {
  it('is recalled from an earlier message of the body', () => {
    const told = user('Remember the codeword PEAR-7.');
    expect(answerTo(told)).toEqual({ text: 'OK, remembered.' });
    expect(answerTo(told, assistant('OK'), user('What is the codeword?'))).toEqual({
      text: 'The codeword is PEAR-7.',
    });
  });

  it('is told from the others by its name', () => {
    const asked = user('What is the codeword for red apples?');
    const told = [
      user('Remember: the codeword for apples is FUJI.'),
      user('Remember: the codeword for red apples is GALA.'),
      user('Remember the codeword PEAR.'),
    ];
    expect(answerTo(...told, asked)).toEqual({ text: 'The codeword for red apples is GALA.' });
    expect(answerTo(...told, user('What is the codeword?')).text).toContain('PEAR');
  });

  it('is not known from the asking message itself, nor from an answer', () => {
    const replayed = user('Remember the codeword PEAR.\nWhat is the codeword?');
    const unknown = { text: 'I do not know the codeword.' };
    expect(answerTo(replayed)).toEqual(unknown);
    expect(
      answerTo(assistant('Remember the codeword PEAR.'), user('What is the codeword?')),
    ).toEqual(unknown);
  });
});

describe('a directive', () => {
  const step: ScriptedStep = {
    tools: [
      { name: 'Bash', input: {} },
      { name: 'Bash', input: {} },
    ],
    after: [{ tools: [{ name: 'Bash', input: {} }] }, { text: 'All ran.' }],
  };
  const asked = user(scripted('Run it.', step));

  it('is followed step by step as the tool results of each step come in', () => {
    expect(answerTo(asked)).toEqual(step);
    expect(answerTo(asked, call, call, result, result)).toEqual(step.after?.[0]);
    expect(answerTo(asked, call, call, result, result, call, result)).toEqual({ text: 'All ran.' });
  });

  it('of an earlier message decides nothing', () => {
    expect(answerTo(asked, assistant('ok'), user('Continue.'))).toEqual({ text: 'Continued.' });
    expect(answerTo(user(`${scripted('Failed.', step)}\n`, 'Hello')).text).toContain('Hello');
  });

  it('is not followed again in a turn that the CLI begins by itself', () => {
    const note = user('<task-notification>\nended\n</task-notification>');
    expect(answerTo(asked, assistant('All ran.'), note)).toEqual({ text: 'Noted.' });
  });

  it('with a misspelt field is answered with an error that names it', () => {
    expect(answerTo(user('Run. [[{"txet":"no"}]]'))).toMatchObject({
      status: 400,
      errorMessage: expect.stringContaining('"txet"'),
    });
  });
});

describe('a reminder of the schema', () => {
  const reminder = user('[structured-output-enforce] You MUST call the StructuredOutput tool.');
  const remind = (said: string, toolNames: readonly string[]) =>
    chooseStep({ ...requestOf(user('Judge.'), assistant(said), reminder), toolNames });

  it('is answered by a call with the JSON that was said, where the tool is there', () => {
    const step = { tools: [{ name: 'StructuredOutput', input: { verdict: 'ok' } }] };
    expect(remind('{"verdict":"ok"}', ['StructuredOutput'])).toEqual(step);
    expect(remind('{"verdict":"ok"}', [])).toHaveProperty('text');
    expect(remind('no JSON', ['StructuredOutput'])).toHaveProperty('text');
  });
});

describe('any other message', () => {
  it('is answered with its beginning and its number', () => {
    expect(answerTo(user('One'), assistant('1'), user('Two 🙂'))).toEqual({
      text: 'Heard: Two 🙂 (message 2)',
    });
  });

  it('is summarized with the others when the CLI compacts', () => {
    const request = {
      ...requestOf(user('Remember the codeword PEAR.')),
      sideReason: 'compaction' as const,
    };
    expect(chooseStep(request).text).toContain('PEAR');
    const summary =
      'This session is being continued from a previous conversation that ran out of context. Remember the codeword PEAR.';
    expect(answerTo(user(summary, 'What is the codeword?')).text).toContain('PEAR');
  });
});

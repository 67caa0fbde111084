import { describe, expect, it } from 'vitest';
import { readSignal } from './signals.js';

const signal = (hook: string, payload: object) => readSignal({ hook, payload });

describe('readSignal', () => {
  it('tells the answer of a Stop, and the work that goes on behind it', () => {
    const payload = { last_assistant_message: 'done', background_tasks: [{}], prompt_id: 'p' };
    expect(signal('Stop', payload)).toEqual({
      type: 'record',
      event: { type: 'turn_ended', answer: 'done', backgroundWork: 1, nativeTurnId: 'p' },
    });
  });

  it.each([
    ['rate_limit', 'API Error: Request rejected (429) · scripted error', 'rate_limited'],
    ['server_error', 'API Error: 529 scripted error.', 'overloaded'],
    ['authentication_failed', 'Please run /login', 'auth_required'],
    ['server_error', 'API Error: Unable to connect to API (ECONNRESET)', 'broken_stream'],
    ['invalid_request', 'Prompt is too long', 'context_too_long'],
  ])('reads a StopFailure of %s (%s) as %s', (error, text, reason) => {
    const payload = { error, last_assistant_message: text };
    expect(signal('StopFailure', payload)).toMatchObject({
      event: { type: 'turn_failed', reason },
    });
  });

  it('tells which session started', () => {
    const payload = { session_id: 's', model: 'm', cwd: '/w' };
    const expected = {
      type: 'session_started',
      nativeSessionId: 's',
      model: 'm',
      workingDir: '/w',
    };
    expect(signal('SessionStart', payload)).toEqual(expected);
  });

  it('B88: knows a turn that the CLI began by itself', () => {
    const payload = { prompt: '<task-notification>\n<task-id>b1</task-id>', prompt_id: 'p' };
    expect(readSignal({ hook: 'gate', verdict: 'other', payload })).toEqual({
      type: 'gate',
      verdict: { kind: 'other', text: payload.prompt, nativeTurnId: 'p', isBackground: true },
    });
  });

  it('says nothing of what it does not know', () => {
    expect(signal('SubagentStop', {})).toBeUndefined();
    expect(readSignal('torn')).toBeUndefined();
    expect(readSignal({ hook: 'gate', verdict: 'new' })).toBeUndefined();
  });
});

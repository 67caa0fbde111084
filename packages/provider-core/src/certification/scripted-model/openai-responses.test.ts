import { describe, expect, it } from 'vitest';
import { openaiResponses } from './openai-responses.js';
import { readUserMessages } from './user-messages.js';

function message(role: string, ...texts: readonly string[]) {
  return { type: 'message', role, content: texts.map((text) => ({ type: 'input_text', text })) };
}

function readBody(body: object) {
  const bodyText = JSON.stringify({ tools: [{ type: 'function', name: 'exec_command' }], ...body });
  return openaiResponses.readRequest({ id: '1', at: '', path: '/v1/responses', bodyText });
}

const turnOf = (fields: object) => ({
  client_metadata: { thread_id: 'thread-1', 'x-codex-turn-metadata': JSON.stringify(fields) },
});

describe('a request of Codex CLI', () => {
  it('is read with its thread, its calls and their results', () => {
    const request = readBody({
      ...turnOf({ request_kind: 'turn', thread_source: 'user' }),
      model: 'loopback-1',
      input: [
        message('developer', 'You are a coding agent'),
        message(
          'user',
          '# AGENTS.md instructions for /somewhere',
          '<environment_context>\n</environment_context>',
        ),
        message('user', 'Run it.'),
        { type: 'function_call', call_id: 'c1', name: 'exec_command', arguments: '{}' },
        { type: 'function_call_output', call_id: 'c1', output: 'done' },
        message('user', '<turn_aborted>\nThe user interrupted.\n</turn_aborted>'),
        message('user', '  After that.\n', 'And this.'),
      ],
    });

    expect(request).toMatchObject({
      kind: 'main',
      nativeSessionId: 'thread-1',
      model: 'loopback-1',
    });
    expect(request.systemText).toBe('You are a coding agent');
    expect(request.messages[3]).toEqual({
      role: 'assistant',
      texts: [],
      callId: 'c1',
      toolName: 'exec_command',
    });
    expect(request.messages[4]).toEqual({ role: 'tool', texts: ['done'], callId: 'c1' });
    expect(readUserMessages(request)).toEqual(['Run it.', '  After that.\n', 'And this.']);
  });

  it('is a turn when its tools come as an item of the input', () => {
    const input = [{ type: 'additional_tools', role: 'developer' }, message('user', 'Run it.')];
    const request = readBody({ input, ...turnOf({ request_kind: 'turn' }), tools: undefined });

    expect(request.kind).toBe('main');
    expect(readUserMessages(request)).toEqual(['Run it.']);
  });

  it('is told apart from the hidden title thread and from a compaction', () => {
    const input = [message('user', 'Generate a concise, single-line task title')];
    const title = turnOf({ request_kind: 'turn', thread_source: 'thread_title' });
    const compaction = turnOf({ request_kind: 'compaction', thread_source: 'user' });

    expect(readBody({ input, ...title, tools: [] }).sideReason).toBe('no_tools');
    expect(readBody({ input, ...compaction, tools: [] }).sideReason).toBe('compaction');
    expect(readBody({ input }).kind).toBe('main');
  });
});

import { describe, expect, it } from 'vitest';
import { openaiChat } from './openai-chat.js';
import { readUserMessages } from './user-messages.js';

function readBody(body: object) {
  const bodyText = JSON.stringify(body);
  return openaiChat.readRequest({ id: '1', at: '', path: '/v1/chat/completions', bodyText });
}

describe('a request of an OpenAI chat client', () => {
  it('is read with its roles, its calls and their results, and its images', () => {
    const called = { id: 'c1', type: 'function', function: { name: 'shell', arguments: '{}' } };
    const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,AAEC' } };
    const request = readBody({
      model: 'chat-1',
      stream: true,
      tools: [{ type: 'function', function: { name: 'shell' } }],
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: '  Look.\n' },
        { role: 'assistant', content: null, tool_calls: [called] },
        { role: 'tool', tool_call_id: 'c1', content: 'done\r\n' },
        { role: 'user', content: [{ type: 'text', text: 'And this?' }, image] },
      ],
    });

    expect(request).toMatchObject({ kind: 'main', model: 'chat-1', stream: true });
    expect(request.toolNames).toEqual(['shell']);
    expect(request.systemText).toBe('Be brief.');
    expect(request.messages.slice(1)).toEqual([
      { role: 'user', texts: ['  Look.\n'] },
      { role: 'assistant', texts: [], callId: 'c1', toolName: 'shell' },
      { role: 'tool', texts: ['done\r\n'], callId: 'c1' },
      {
        role: 'user',
        texts: ['And this?'],
        images: [
          {
            mediaType: 'image/png',
            byteLength: 3,
            sha256: 'ae4b3280e56e2faf83f414a6e3dabe9d5fbe18976544c05fed121accb85b53fc',
          },
        ],
      },
    ]);
    expect(readUserMessages(request)).toEqual(['  Look.\n', 'And this?']);
  });
});
